import { invalid } from '../../base/fault.ts'
import type { EngineState } from '../state/engine-state.ts'
import { guarded } from '../tasks/guarded.ts'
import { askedBy, type Parked } from '../workers/worker-link.ts'
import type { TaskLease } from '../workers/worker-session.ts'
import { linkOf } from './attempts.ts'

export interface Ask {
  readonly worker: string
  /** At most so many at once; one unless said. */
  readonly tasks?: number
  /** After which the answer is empty; without it the question stands until it is withdrawn. */
  readonly waitMs?: number
}

/**
 * A worker that pulls waits for work. It is answered once: at once when there is some, else as soon as there is, and
 * with nothing when its time is up or the worker is gone. The answer takes the question back, and then nothing is told.
 */
export function ask(
  engine: EngineState,
  { worker, tasks = 1, waitMs }: Ask,
  answer: (leases: readonly TaskLease[]) => void,
): () => void {
  const link = linkOf(engine, worker)
  if (!link.description.pulls) throw invalid('a worker that is sent its tasks does not ask for them')
  link.heardAt = engine.clock.now()
  let isOver = false
  let stopTimer: (() => void) | undefined
  const end = (): void => {
    isOver = true
    stopTimer?.()
  }
  const parked: Parked = {
    tasks: Math.min(1000, Math.max(1, Math.floor(tasks) || 1)),
    answer(leases) {
      end()
      answer(leases)
    },
  }
  const withdraw = (): boolean => {
    if (isOver) return false
    end()
    link.parked = link.parked.filter((one) => one !== parked)
    if (engine.links.find(worker) === link) engine.dispatch({ kind: 'ask', worker, tasks: askedBy(link) })
    return true
  }
  link.parked.push(parked)
  if (waitMs !== undefined) {
    stopTimer = engine.clock.after(waitMs, () => {
      if (withdraw()) guarded(engine.log, () => answer([]))
    })
  }
  engine.dispatch({ kind: 'ask', worker, tasks: askedBy(link) })
  return withdraw
}
