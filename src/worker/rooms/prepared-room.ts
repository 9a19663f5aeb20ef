import type { CommandTask } from '../../model/command-task.ts'
import type { ProcessControl, Release, Run, RunEnd, RunHooks, Runtime } from '../../runtimes/run/runtime.ts'
import type { OpenRoom } from './rooms.ts'

/** A room that was made before a task needed it. A process waits in it to become the command of one run. */
export interface PreparedRoom extends OpenRoom {
  /**
   * Writes the inputs where the waiting process expects them. On false, the caller places them as in any empty room.
   */
  placeInputs?(task: CommandTask): boolean
  /** Like `Runtime.run`. If the waiting process cannot become the run, the runtime starts it in the room. */
  run: Runtime['run']
}

/** Rooms that are made before tasks need them. */
export interface RoomPool {
  /** A room that fits the task; undefined when the pool has none for it. */
  take(task: CommandTask): PreparedRoom | undefined
  /** Called when an attempt begins, in any room. Returns a function to call when the attempt has ended. */
  attemptBegan?(): () => void
}

export interface HeldRunOptions extends Pick<Run, 'command' | 'room' | 'limits'> {
  readonly runtime: Pick<Runtime, 'run'>
  /** The input of the process, as far as it is known when the run is released. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined
}

/**
 * A run that was started ahead of its task and waits. It serves one task. Hooks and time limit are set at the release.
 */
export class HeldRun {
  readonly #released = Promise.withResolvers<Release>()
  readonly #aborting = new AbortController()
  readonly #end: Promise<RunEnd>
  #hooks: RunHooks = {}
  #control: ProcessControl | undefined
  #hasEnded = false
  #hasPrinted = false

  constructor({ command, room, limits, runtime, stdin }: HeldRunOptions) {
    const printed = (stream: 'stdout' | 'stderr') => (bytes: Uint8Array) => {
      this.#hasPrinted = true
      this.#hooks[stream]?.(bytes)
    }
    const hooks: RunHooks = {
      started: () => this.#hooks.started?.(),
      stdout: printed('stdout'),
      stderr: printed('stderr'),
      control: (control) => (this.#control = control),
      ...(stdin && { stdin }),
    }
    const run = { command, room, limits, hooks, held: this.#released.promise }
    this.#end = runtime.run(run, this.#aborting.signal).finally(() => (this.#hasEnded = true))
    this.#end.catch(() => {}) // reported to the caller of `release`
  }

  /** True when, for example, its room could not be made; or when it was released and has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Output before the release shows that it is not in the expected state. */
  get hasPrinted(): boolean {
    return this.#hasPrinted
  }

  /** Passes the command to the waiting process by `feed`, as the first input. Resolves when the command has ended. */
  async release({ hooks, limits }: Run, feed: () => unknown, signal: AbortSignal): Promise<RunEnd> {
    const abort = (): void => this.#aborting.abort(signal.reason)
    this.#hooks = hooks
    if (this.#control !== undefined) hooks.control?.(this.#control)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    const fed = signal.aborted ? undefined : feed()
    this.#released.resolve({ wallMs: limits.wallMs })
    try {
      await fed
      return await this.#end
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Resolves when its processes are dead. The caller removes the room. */
  async close(): Promise<void> {
    if (this.#hasEnded) return
    this.#aborting.abort()
    await this.#end.catch(() => {})
  }
}
