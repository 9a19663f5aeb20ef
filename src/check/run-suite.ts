import type { Clock } from '../base/clock.ts'
import { GrpcError } from '../grpc/status.ts'
import type { Behaviour, CheckOutcome, Result } from './behaviour.ts'
import { NotOffered, statusText, Unmet } from './unmet.ts'

export interface SuiteRun<Probe> {
  readonly behaviours: readonly Behaviour[]
  /** Why a behaviour does not apply to this server; undefined when it does. */
  readonly unoffered: (behaviour: Behaviour) => string | undefined
  readonly checkOf: (id: string) => (probe: Probe) => Promise<void>
  /** The environment of one check; its calls must end when the signal aborts. */
  readonly probeFor: (id: string, signal: AbortSignal) => Probe
  readonly clock: Clock
  readonly deadlineMs: number
  readonly atOnce: number
  readonly onResult?: (result: Result, done: number) => void
}

/** Runs every check, several at once, each within its deadline. Results come in the order of the behaviours. */
export async function runSuite<Probe>(run: SuiteRun<Probe>): Promise<Result[]> {
  const results: Result[] = new Array(run.behaviours.length)
  let next = 0
  let done = 0
  const lane = async (): Promise<void> => {
    while (next < run.behaviours.length) {
      const index = next++
      const result = await runOne(run, run.behaviours[index] as Behaviour)
      results[index] = result
      run.onResult?.(result, ++done)
    }
  }
  await Promise.all(Array.from({ length: run.atOnce }, lane))
  return results
}

async function runOne<Probe>(run: SuiteRun<Probe>, behaviour: Behaviour): Promise<Result> {
  const start = run.clock.monotonic()
  const why = run.unoffered(behaviour)
  const outcome: CheckOutcome = why === undefined ? await attempt(run, behaviour) : { kind: 'not offered', why }
  return { behaviour, outcome, ms: run.clock.monotonic() - start }
}

async function attempt<Probe>(run: SuiteRun<Probe>, { id }: Behaviour): Promise<CheckOutcome> {
  const ending = new AbortController()
  const late = Promise.withResolvers<CheckOutcome>()
  const cancelDeadline = run.clock.after(run.deadlineMs, () => {
    late.resolve({ kind: 'failed', expected: 'an answer', seen: `no answer within ${run.deadlineMs / 1000} s` })
  })
  const check = run.checkOf(id)
  const verdict = Promise.resolve(run.probeFor(id, ending.signal))
    .then(check)
    .then((): CheckOutcome => ({ kind: 'passed' }), failure)
  const outcome = await Promise.race([verdict, late.promise])
  cancelDeadline()
  ending.abort()
  return outcome
}

function failure(error: unknown): CheckOutcome {
  if (error instanceof Unmet) return { kind: 'failed', expected: error.expected, seen: error.seen }
  if (error instanceof NotOffered) return { kind: 'not offered', why: error.message }
  if (error instanceof GrpcError) return { kind: 'failed', expected: 'every call to succeed', seen: statusText(error) }
  const seen = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'failed', expected: 'the check to reach its end', seen }
}
