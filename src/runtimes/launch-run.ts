import type { Clock } from '../base/clock.ts'
import { FaultError } from '../base/fault.ts'
import { CapturedOutput } from './captured-output.ts'
import type { Launch, LaunchEnd, Launcher, LaunchOrder } from './launcher/launcher.ts'
import type { Output, RunHooks } from './runtime.ts'

/** What came of an order, and which of the two that may stop it from outside did. */
export interface LaunchOutcome {
  readonly end: Exclude<LaunchEnd, { kind: 'lost' }>
  readonly stopped: 'timeout' | 'cancelled' | undefined
  readonly wallMs: number
  readonly stdout: Output
  readonly stderr: Output
}

export interface LaunchRun {
  readonly launcher: Pick<Launcher, 'start'>
  readonly clock: Clock
  readonly order: LaunchOrder
  readonly wallMs: number | undefined
  readonly hooks: RunHooks
}

/** Carries one order through: output to who listens, input from who speaks, an end when its time is up. */
export async function launchRun(run: LaunchRun, signal: AbortSignal): Promise<LaunchOutcome> {
  const { launcher, clock, order, hooks } = run
  const captured = { stdout: new CapturedOutput(), stderr: new CapturedOutput() }
  const ended = Promise.withResolvers<LaunchEnd>()
  let startedAt = clock.monotonic()
  let stopped: LaunchOutcome['stopped']
  const timeFromNow = (): (() => void) =>
    run.wallMs === undefined ? () => {} : clock.after(run.wallMs, () => stop('timeout'))
  let forgetTime = timeFromNow() // and anew when it has started: a slow start is not the command's
  const launch = launcher.start(order, {
    started() {
      startedAt = clock.monotonic()
      forgetTime()
      if (stopped === undefined) forgetTime = timeFromNow()
      hooks.started?.()
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
  if (signal.aborted) cancel() // while the order was being written
  if (order.hasInput) void feed(launch, hooks.stdin, ended.promise)
  const end = await ended.promise
  forgetTime()
  signal.removeEventListener('abort', cancel)
  if (end.kind === 'lost') throw new FaultError({ kind: 'unavailable', what: end.what })
  const wallMs = clock.monotonic() - startedAt
  return { end, stopped, wallMs, stdout: captured.stdout.output(), stderr: captured.stderr.output() }
}

/** Until one of the two has had enough. A source that fails has ended: what the command makes of that is its affair. */
async function feed(launch: Launch, stdin: RunHooks['stdin'], ended: Promise<LaunchEnd>): Promise<void> {
  if (stdin === undefined) return
  const pieces = stdin[Symbol.asyncIterator]()
  const over = ended.then((): IteratorResult<Uint8Array> => ({ done: true, value: undefined }))
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), over])
      if (next.done === true) break
      await launch.write(next.value)
    }
  } catch {
    // as above
  } finally {
    launch.endInput()
    void pieces.return?.()
  }
}
