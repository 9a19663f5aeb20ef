import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Launch, LaunchEnd, Launcher, LaunchSpec } from '../launcher/launcher.ts'
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
  /** The same as `Run.held`; the launch also needs `isHeld`. */
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
  let forgetTime = timeFromNow() // starts again when the command has started: a slow start does not count
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
  if (signal.aborted) cancel() // aborted while the launch was being prepared
  void run.held?.then(({ wallMs }) => {
    allowedMs = wallMs
    begin()
    launch.release?.()
  })
  if (order.hasInput) void feed(launch, hooks.stdin, ended.promise)
  hooks.control?.({ signal: (name) => launch.signal?.(name), resize: (size) => launch.resize?.(size) })
  const end = await ended.promise
  forgetTime()
  signal.removeEventListener('abort', cancel)
  if (end.kind === 'lost') throw new FaultError({ kind: 'unavailable', what: end.what })
  const wallMs = (end.kind === 'exited' ? end.exit.wallMs : undefined) ?? clock.monotonic() - startedAt
  return { end, stopped, wallMs, allowedMs, stdout: captured.stdout.output(), stderr: captured.stderr.output() }
}

/** Copies until either side ends. A failed source counts as ended; the command sees the end of its input. */
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
    // counts as ended: see above
  } finally {
    launch.endInput()
    void pieces.return?.()
  }
}

/** Keeps the output of a process, within the limit that its launcher enforces. */
export class CapturedOutput {
  readonly #pieces: Buffer[] = []
  #length = 0
  #tail: Buffer = Buffer.alloc(0)
  #dropped = 0

  add(bytes: Uint8Array): void {
    this.#pieces.push(Buffer.from(bytes))
    this.#length += bytes.length
  }

  /** The number of bytes that were dropped, and the last of them. */
  drop(count: number, tail: Uint8Array): void {
    this.#dropped = count
    this.#tail = Buffer.from(tail)
  }

  /** The tail replaces as many bytes before it, so that the total stays within the limit. */
  output(): Output {
    const droppedAt = Math.max(0, this.#length - this.#tail.length)
    const head = Buffer.concat(this.#pieces, this.#dropped === 0 ? this.#length : droppedAt)
    if (this.#dropped === 0) return { bytes: head, droppedBytes: 0, droppedAt: head.length }
    const droppedBytes = this.#length - droppedAt + this.#dropped - this.#tail.length
    return { bytes: Buffer.concat([head, this.#tail]), droppedBytes, droppedAt }
  }
}
