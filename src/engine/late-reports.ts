import { parseAttemptId } from '../model/fencing.ts'
import type { AttemptEnd, AttemptRef } from '../scheduler/model/events.ts'
import type { EngineState } from './engine-state.ts'
import { sendCall } from './record.ts'
import { RecordCall } from './task-facts.ts'
import { shortened } from './tasks/faults.ts'
import { clearJournaled, type LiveTask } from './tasks/live-task.ts'
import type { WorkersAttempt } from './workers/worker-session.ts'

const STATE_OF = { result: 'completed', timeout: 'timeout', stopped: 'cancelled', fault: 'failed' } as const

/** The report of an attempt that is not the current one of its task. `task` is set when the worker holds it. */
interface StaleReport {
  readonly task: LiveTask | undefined
  readonly outcome: AttemptEnd
}

/** A report of a worker that never held the lease is not recorded. */
export function supersedeAttempt(
  engine: EngineState,
  { worker, attemptId }: WorkersAttempt,
  { task, outcome }: StaleReport,
): void {
  const attempt = parseAttemptId(attemptId)
  // Reports to the scheduler that the worker no longer holds the attempt: its slot may be counted as occupied.
  if (task !== undefined || engine.links.find(worker) !== undefined)
    engine.dispatch({ kind: 'finished', worker, outcome, ...attempt })
  if (task === undefined && engine.formerLeases.take(attemptId, worker))
    recordLate(engine, { worker, attempt, outcome })
}

interface LateReport {
  readonly worker: string
  readonly attempt: AttemptRef
  readonly outcome: AttemptEnd
}

/**
 * Records the end of a former attempt beside its task. The journal distinguishes a late end from the true one by the
 * recorded lease. So the lease is part of the same call: if an earlier call failed, the journal must not treat the late
 * end as the true one.
 */
function recordLate(engine: EngineState, { worker, attempt, outcome }: LateReport): void {
  const task = engine.live.tasks.get(attempt.task)
  if (task !== undefined && (task.ending !== undefined || task.record !== 'durable')) return
  const call = new RecordCall()
  if (task !== undefined) {
    clearJournaled(task)
    call.add(task, engine.now)
  }
  const { task: id, fencing } = attempt
  const reason = `from worker ${shortened(worker)}`
  const state = STATE_OF[outcome.kind]
  call.facts.push({ kind: 'finished', task: id, fencing, state, reason, at: engine.clock.now() })
  void sendCall(engine, call)
}
