import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Launch, LaunchEnd, Launcher, LaunchSpec } from '../launcher/launcher.ts'
import { CapturedOutput } from './captured-output.ts'
import type { Output, Release, RunHooks } from './runtime.ts'

/** The end of a launch, and whether a timeout or the caller stopped it. */
export interface LaunchOutcome {
  readonly end: Exclude<LaunchEnd, { kind: 'lost' }>
  readonly stopped: 'timeout' | 'cancelled' | undefined
  readonly wallMs: number
  /** The wall time limit. */
  readonly allowedMs?: number | undefined
  readonly stdout: Output
  readonly stderr: Output
}

export interface LaunchRun {
  readonly launcher: Pick<Launcher, 'start'>
  readonly clock: Clock
  readonly order: LaunchSpec
  readonly wallMs: number | undefined
  readonly hooks: RunHooks
  /** As in a `Run`; the launch's `isHeld` must be set, too. */
  readonly held?: Promise<Release> | undefined
}

/** Runs one launch: passes on output and input, and stops it when its time is up. */
export async function launchRun(run: LaunchRun, signal: AbortSignal): Promise<LaunchOutcome> {
  const { launcher, clock, order, hooks } = run
  const captured = { stdout: new CapturedOutput(), stderr: new CapturedOutput() }
  const ended = Promise.withResolvers<LaunchEnd>()
  let startedAt = clock.monotonic()
  let stopped: LaunchOutcome['stopped']
  let allowedMs = run.held === undefined ? run.wallMs : undefined
  const timeFromNow = (): (() => void) =>
    allowedMs === undefined ? () => {} : clock.after(allowedMs, () => stop('timeout'))
  let forgetTime = timeFromNow() // and starts anew when the command has started: a slow start does not count
  const begin = (): void => {
    startedAt = clock.monotonic()
    forgetTime()
    if (stopped === undefined) forgetTime = timeFromNow()
    hooks.started?.()
  }
  const launch = launcher.start(order, {
    started() {
      if (run.held === undefined) begin()
    },
    output(stream, bytes) {
      captured[stream].add(bytes)
      hooks[stream]?.(bytes)
    },
    dropped(stream, count, tail) {
      captured[stream].drop(count, tail)
      hooks[stream]?.(tail)
    },
    ended: ended.resolve,
  })
  const stop = (why: 'timeout' | 'cancelled'): void => {
    stopped ??= why
    launch.stop()
  }
  const cancel = (): void => stop('cancelled')
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel() // while the launch was being prepared
  void run.held?.then(({ wallMs }) => {
    allowedMs = wallMs
    begin()
    launch.release?.()
  })
  if (order.hasInput) void feed(launch, hooks.stdin, ended.promise)
  hooks.reins?.({ signal: (name) => launch.signal?.(name), resize: (size) => launch.resize?.(size) })
  const end = await ended.promise
  forgetTime()
  signal.removeEventListener('abort', cancel)
  if (end.kind === 'lost') throw new FaultError({ kind: 'unavailable', what: end.what })
  const wallMs = (end.kind === 'exited' ? end.exit.wallMs : undefined) ?? clock.monotonic() - startedAt
  return { end, stopped, wallMs, allowedMs, stdout: captured.stdout.output(), stderr: captured.stderr.output() }
}

/** Copies until either side ends. A source that fails counts as ended; the command handles the end of its input. */
async function feed(launch: Launch, stdin: RunHooks['stdin'], ended: Promise<LaunchEnd>): Promise<void> {
  if (stdin === undefined) return launch.endInput()
  const pieces = stdin[Symbol.asyncIterator]()
  const over = ended.then((): IteratorResult<Uint8Array> => ({ done: true, value: undefined }))
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), over])
      if (next.done === true) break
      await launch.write(next.value)
    }
  } catch {
    // ended, as above
  } finally {
    launch.endInput()
    void pieces.return?.()
  }
}
