import type { DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/workers/worker-service.ts'
import type { AttemptReport } from '../../engine/workers/worker-session.ts'
import { checkReported, type ReportedOutputs } from '../../wire/hot/output-check.ts'
import type { TaskUpdate } from '../../wire/workers/report.ts'
import type { ReportCheck } from './report-check.ts'

/** Passes the report of a worker to the engine. Throws `absent` when the worker does not hold the attempt any more. */
export async function takeReport(tools: ReportTools, { worker, attemptId, what: state }: TaskUpdate): Promise<void> {
  const { service, ended } = tools
  const attempt = { worker, attemptId }
  switch (state.kind) {
    case 'started':
      if (!(await service.started(worker, attemptId))) throw gone(attemptId)
      return
    case 'returned':
      ended()
      if (!(await service.returned(attempt, { ...state, what: state.what || 'its worker returned it' })))
        throw gone(attemptId)
      return
    case 'stopped':
      return await finish(tools, attempt, { outcome: { kind: 'stopped' } })
    case 'fault': {
      const what = state.what || 'its worker reported a failure without a reason'
      return await finish(tools, attempt, { outcome: { kind: 'fault', what, final: state.hopeless } })
    }
    case 'timeout':
    case 'result':
      return await finishWith(tools, attempt, state)
  }
}

export interface ReportTools {
  readonly service: WorkerService
  readonly checkReport: ReportCheck
  /** Called before the engine ends the attempt. Until then heartbeats renew it: the check of a result may take long. */
  readonly ended: () => void
}

type AttemptRef = Pick<TaskUpdate, 'worker' | 'attemptId'>

interface Ended {
  readonly kind: 'timeout' | 'result'
  readonly result: Uint8Array | undefined
  readonly fn: DigestFunction | undefined
}

/** An invalid result fails the attempt, and the worker's call. */
async function finishWith(tools: ReportTools, attempt: AttemptRef, ended: Ended): Promise<void> {
  const { kind, result } = ended
  let outputs: ReportedOutputs | undefined
  try {
    outputs = result && readOutputs(result, ended.fn)
    if (outputs && hasContents(outputs)) await tools.checkReport({ ...attempt, outputs })
    if (outputs === undefined && kind === 'result')
      throw new FaultError({ kind: 'invalid', what: 'the status is COMPLETED, but the report has no result' })
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    await finish(tools, attempt, { outcome: { kind: 'fault', what: `its worker sent no result: ${error.message}` } })
    throw error
  }
  const outcome = kind === 'timeout' ? ({ kind } as const) : ({ kind, succeeded: outputs?.exitCode === 0 } as const)
  await finish(tools, attempt, { outcome, ...(result && { result }), ...(outputs && { roots: outputs.named }) })
}

/** Only these require reading blobs or the task. */
const hasContents = ({ climbs, inlined, directories }: ReportedOutputs): boolean =>
  climbs > 0 || inlined.length > 0 || directories.length > 0

async function finish({ service, ended }: ReportTools, attempt: AttemptRef, report: AttemptReport): Promise<void> {
  ended()
  if ((await service.finished(attempt, report)) === 'superseded') throw gone(attempt.attemptId)
}

const gone = (attemptId: string): FaultError =>
  new FaultError({ kind: 'absent', what: `${attemptId.slice(0, 200)} is no longer leased to this worker: drop it` })

/** For a worker that names no digest function, the length of the hashes determines it. */
function readOutputs(bytes: Uint8Array, fn: DigestFunction | undefined): ReportedOutputs {
  if (fn !== undefined) return checkReported(bytes, fn)
  let failure: unknown
  for (const guess of BY_LENGTH) {
    try {
      return checkReported(bytes, guess)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

/** One function per hash length. */
const BY_LENGTH = ['sha256', 'sha1', 'md5', 'sha384', 'sha512'] as const satisfies readonly DigestFunction[]
