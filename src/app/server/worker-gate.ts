import type { Clock } from '../../base/clock.ts'
import type { WorkerStatus } from '../process/worker-status.ts'
import type { Readiness } from './readiness.ts'

/** Delays the readiness of `windlass up` until its worker is ready. */
export interface WorkerGate {
  /** Resolves when the server becomes ready for the first time. */
  readonly opened: Promise<void>
  /** The worker is expected but has not registered: its languages are unknown. */
  isComing(): boolean
  heard(status: WorkerStatus): void
  /** Called when the worker's process exited unexpectedly; it is restarted unless `next` is undefined. */
  ended(why: string, nextMs: number | undefined): void
  close(): void
}

/** After this time a registered worker is sufficient, even while self-tests run. */
export const PATIENCE_MS = 20_000
const CAUSE = 'worker'

type Registered = Extract<WorkerStatus, { kind: 'registered' }>

export function workerGate(readiness: Readiness, clock: Clock): WorkerGate {
  const opened = Promise.withResolvers<void>()
  let isPatient = true
  let isComing = true
  let registered: Registered | undefined
  let cause: string | undefined // why the current process, or the last one, cannot work
  let shown: string | undefined
  let waitsFor: string | undefined // why a running worker does not reach its server

  const look = (): void => {
    if (registered === undefined) return readiness.hold(CAUSE, waitingFor({ failure: shown, waitsFor, isPatient }))
    const { testing } = registered
    if (isPatient && testing.length > 0)
      return readiness.hold(CAUSE, `the worker is testing its languages: ${testing.join(', ')}`)
    const problems = problemsOf(registered)
    if (problems === '') readiness.release(CAUSE)
    else readiness.warn(CAUSE, problems)
    opened.resolve()
  }
  const forget = clock.after(PATIENCE_MS, () => {
    isPatient = false
    look()
  })
  look()
  return {
    opened: opened.promise,
    isComing: () => isComing,
    heard(status) {
      waitsFor = status.kind === 'waiting' ? oneLine(status.what) : undefined
      if (status.kind === 'waiting') return look()
      isComing = false
      registered = status.kind === 'registered' ? status : undefined
      cause = status.kind === 'failed' ? oneLine(status.what) : undefined
      shown = cause
      look()
    },
    ended(why, nextMs) {
      isComing &&= nextMs !== undefined
      registered = undefined
      waitsFor = undefined
      const last = cause ?? why
      cause = undefined
      shown = nextMs === undefined ? last : `${last}; the worker is started again in ${Math.ceil(nextMs / 1000)} s`
      look()
    },
    close: forget,
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')

interface Waiting {
  readonly failure: string | undefined
  readonly waitsFor: string | undefined
  readonly isPatient: boolean
}

function waitingFor({ failure, waitsFor, isPatient }: Waiting): string {
  if (waitsFor !== undefined) return `the worker waits for its server: ${waitsFor}`
  if (failure !== undefined) return `there is no worker: ${failure}`
  return isPatient ? 'the worker is starting' : `the worker has not registered within ${PATIENCE_MS / 1000} s`
}

function problemsOf({ testing, failed }: Registered): string {
  const broken = Object.entries(failed).map(([name, what]) => `${name} (${what})`)
  return [
    ...(testing.length === 0 ? [] : [`languages not available yet, still under test: ${testing.join(', ')}`]),
    ...(broken.length === 0 ? [] : [`languages that fail their self-test: ${broken.join(', ')}`]),
  ].join('; ')
}
