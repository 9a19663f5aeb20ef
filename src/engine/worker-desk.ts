import { attemptId } from '../model/fencing.ts'
import { type Ask, ask } from './asking.ts'
import { inputTaken } from './inputting.ts'
import type { Shell } from './shell.ts'
import { viewOfLink } from './worker-link.ts'
import type {
  AttemptReport,
  TaskLease,
  WorkerDescription,
  WorkerPulse,
  WorkerSession,
  WorkerView,
} from './worker-session.ts'
import {
  finished,
  type HeldTask,
  heartbeat,
  held,
  output,
  type Printed,
  type Return,
  register,
  returned,
  started,
  type WorkersWord,
} from './workers.ts'

/**
 * Where workers come in, whichever protocol they speak. Attempts go by the id that their lease came with; one that does
 * not look like it is `invalid`. What a call makes the grid say to the worker has gone to its session, or to who asked,
 * before it returns.
 */
export interface WorkerDesk {
  /** Registering a known id ends the old registration: its leases lapse unless they are listed as running. */
  register(description: WorkerDescription, session: WorkerSession): void
  /** False for a worker that is not known, and has to register. */
  heartbeat(worker: string, pulse?: WorkerPulse): boolean
  /** For workers that pull; the answer takes the question back. */
  ask(question: Ask, answer: (leases: readonly TaskLease[]) => void): () => void
  /** False when the worker does not hold the attempt: then nothing has changed. */
  started(worker: string, attemptId: string): boolean
  /** Resolves when the worker may forget the attempt. */
  finished(word: WorkersWord, report: AttemptReport): Promise<'applied' | 'superseded'>
  /** It was handed back, or could not be delivered: queued again, and nobody's fault. False as for `started`. */
  returned(word: WorkersWord, why: Return): boolean
  /** False as for `started`. */
  output(printed: Printed): boolean
  /** The task of an attempt that this worker holds and has not ended; undefined for every other worker or attempt. */
  held(word: WorkersWord): HeldTask | undefined
  /** What was done to the attempt has reached it, up to this number. */
  inputTaken(word: WorkersWord, number: number): void
  /** Its connection is gone without a word. Nothing happens when another session has taken its place. */
  disconnected(worker: string, session: WorkerSession): void
  /** It leaves: what it holds is queued again. */
  unregister(worker: string): boolean
  list(): readonly WorkerView[]
  /** Workers that the server lost in the last ten minutes and that did not come back, as OFFLINE. */
  lost(): readonly WorkerView[]
  /** The attempt that this worker holds for the task of this operation, if it holds one. */
  attemptOf(worker: string, operation: string): HeldAttempt | undefined
}

export interface HeldAttempt {
  readonly attemptId: string
  readonly attempt: number
}

export const workerDesk = (shell: Shell): WorkerDesk => ({
  register: (description, session) => register(shell, description, session),
  heartbeat: (worker, pulse) => heartbeat(shell, worker, pulse),
  ask: (question, answer) => ask(shell, question, answer),
  started: (worker, attemptId) => started(shell, worker, attemptId),
  finished: (word, report) => finished(shell, word, report),
  returned: (word, why) => returned(shell, word, why),
  output: (printed) => output(shell, printed),
  held: (word) => held(shell, word),
  inputTaken: (word, number) => inputTaken(shell, word, number),
  disconnected(worker, session) {
    const link = shell.links.get(worker)
    if (link?.session !== session) return
    link.isCutOff = true
    shell.dispatch({ kind: 'disconnected', worker })
  },
  unregister(worker) {
    const link = shell.links.get(worker)
    if (link === undefined) return false
    link.isLeaving = true
    shell.dispatch({ kind: 'unregister', worker })
    return true
  },
  list: () => views(shell),
  lost: () => shell.lost.views(shell.clock.now()),
  attemptOf: (worker, operation) => heldAttempt(shell, worker, operation),
})

function heldAttempt(shell: Shell, worker: string, operation: string): HeldAttempt | undefined {
  const task = shell.operations.get(operation)?.task
  if (task?.worker !== worker || task.fencing === undefined || task.ending !== undefined) return undefined
  return { attemptId: attemptId(task.id, task.fencing), attempt: task.attempt }
}

function views(shell: Shell): WorkerView[] {
  const leases = new Map<string, number>()
  for (const { worker, fencing, ending } of shell.tasks.values()) {
    if (worker !== undefined && fencing !== undefined && ending === undefined)
      leases.set(worker, (leases.get(worker) ?? 0) + 1)
  }
  return Array.from(shell.links.values(), (link) => viewOfLink(link, leases.get(link.description.worker) ?? 0))
}
