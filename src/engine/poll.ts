import { invalid } from '../base/fault.ts'
import type { EngineState } from './engine-state.ts'
import { absent, shortened } from './tasks/faults.ts'
import { callSession, type Poll, pollsOf } from './workers/worker-links.ts'
import type { Ask } from './workers/worker-service.ts'
import type { TaskLease } from './workers/worker-session.ts'

/**
 * A long poll of a worker for leases. It is answered once: with leases as soon as there are some, or with none when its
 * time is up or the worker is lost. The returned function withdraws the poll, which is then not answered.
 */
export function poll(
  engine: EngineState,
  { worker, tasks = 1, waitMs }: Ask,
  answer: (leases: readonly TaskLease[]) => void,
): () => void {
  const link = engine.links.find(worker)
  if (link === undefined) throw absent(`no worker is registered as ${shortened(worker)}`)
  if (!link.description.pulls) throw invalid('a worker that is sent its tasks must not poll for them')
  link.heardAt = engine.clock.now()
  let isEnded = false
  let stopTimer: (() => void) | undefined
  const end = (): void => {
    isEnded = true
    stopTimer?.()
  }
  const waiting: Poll = {
    tasks: Math.min(1000, Math.max(1, Math.floor(tasks) || 1)),
    answer(leases) {
      end()
      answer(leases)
    },
  }
  const withdraw = (): boolean => {
    if (isEnded) return false
    end()
    link.polls = link.polls.filter((one) => one !== waiting)
    if (engine.links.find(worker) === link) engine.dispatch({ kind: 'ask', worker, tasks: pollsOf(link) })
    return true
  }
  link.polls.push(waiting)
  if (waitMs !== undefined) {
    stopTimer = engine.clock.after(waitMs, () => {
      if (withdraw()) callSession(engine.log, () => answer([]))
    })
  }
  engine.dispatch({ kind: 'ask', worker, tasks: pollsOf(link) })
  return withdraw
}
