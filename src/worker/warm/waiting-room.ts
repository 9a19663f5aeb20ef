import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Reins, Release, Room, Run, RunEnd, RunHooks, Runtime } from '../../runtimes/runtime.ts'
import { plainCommand } from './plain-command.ts'
import type { WarmShape } from './warm-shape.ts'

/**
 * A room in which an interpreter has been started as for a run of its shape, `python3 main.py` say. The one thing that it does not
 * find is the code: `main.py` is a named pipe, and opening that is the last it does before it has to wait. When a run comes, the
 * pipe loses its name, the files of the run are laid out, the code among them, and what is in that file goes down the
 * pipe. So the interpreter is one that nobody changed, in a room like any other, with nothing of ours in it: no program, no
 * descriptor, no variable; what it prints, how it ends and what stands in its stack are what they would have been.
 *
 * It serves one run and is gone with it.
 */
export class WaitingRoom {
  readonly shape: WarmShape
  readonly room: Room
  readonly #pipe: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #held = Promise.withResolvers<Release>()
  readonly #input = Promise.withResolvers<AsyncIterable<Uint8Array>>()
  readonly #ending = new AbortController()
  readonly #end: Promise<RunEnd>
  #hooks: RunHooks = {}
  #reins: Reins | undefined
  #fd: number | undefined
  #isOver = false
  #hasSpoken = false

  constructor(shape: WarmShape, room: Room, { runtime, clock }: { runtime: Pick<Runtime, 'run'>; clock: Clock }) {
    this.shape = shape
    this.room = room
    this.#clock = clock
    this.#pipe = join(room.path, shape.file)
    const hooks = this.#heard()
    const { argv, env, limits, platform } = shape
    const run = {
      command: plainCommand({ argv, env, limits, platform }),
      room,
      limits,
      hooks,
      held: this.#held.promise,
    }
    this.#end = runtime.run(run, this.#ending.signal).finally(() => (this.#isOver = true))
    this.#end.catch(() => {}) // told to whoever runs in it
  }

  /** Whether it is there to be used. One that has spoken already is not what it should be. */
  get isReady(): boolean {
    return this.#fd !== undefined && !this.#isOver && !this.#hasSpoken
  }

  /** Resolves when the interpreter has opened the pipe, or with false when it has not after so many looks, or is gone. */
  async ready(): Promise<boolean> {
    for (let look = 0; look < LOOKS && !this.#isOver; look++) {
      this.#fd = openWritten(this.#pipe)
      if (this.#fd !== undefined) return this.isReady
      await this.#pause(LOOK_MS)
    }
    return false
  }

  /** Makes way for the files of a run. */
  taken(): void {
    rmSync(this.#pipe, { force: true })
  }

  /** The files are there, and are untouched: nothing has run in this room. */
  async go(run: Run, signal: AbortSignal): Promise<RunEnd> {
    const code = readFileSync(this.#pipe)
    const end = (): void => this.#ending.abort(signal.reason)
    this.#hooks = run.hooks
    if (this.#reins !== undefined) run.hooks.reins?.(this.#reins)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    this.#held.resolve({ wallMs: run.limits.wallMs })
    if (run.hooks.stdin !== undefined) this.#input.resolve(run.hooks.stdin)
    await Promise.resolve() // it is said to have started before it can have said anything
    try {
      await this.#pour(code)
      return await this.#end
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Resolves when nothing of it is left; the room itself is who made it to remove. */
  async end(): Promise<void> {
    this.#ending.abort()
    this.#close()
    await this.#end.catch(() => {})
  }

  #heard(): RunHooks {
    const said = (stream: 'stdout' | 'stderr') => (bytes: Uint8Array) => {
      this.#hasSpoken = true
      this.#hooks[stream]?.(bytes)
    }
    return {
      started: () => this.#hooks.started?.(),
      stdout: said('stdout'),
      stderr: said('stderr'),
      reins: (reins) => (this.#reins = reins),
      ...(this.shape.hasInput && { stdin: inputOf(this.#input.promise) }),
    }
  }

  /** A pipe takes some at a time, and the rest when that has been read. */
  async #pour(code: Uint8Array): Promise<void> {
    for (let at = 0; at < code.length && this.#fd !== undefined && !this.#isOver; ) {
      const written = tryWrite(this.#fd, code.subarray(at))
      if (written === undefined) break // it reads no more
      if (written === 0) await this.#pause(1)
      at += written
    }
    this.#close()
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve))
  }
}

/** Ten seconds, for one on a machine that is busy. */
const LOOKS = 2000
const LOOK_MS = 5

/** Undefined as long as nobody reads it. Never waits, and never follows a symlink. */
function openWritten(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
}

/** 0 when the pipe is full, undefined when nobody reads it any more. */
function tryWrite(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
  }
}

async function* inputOf(given: Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  yield* await given
}
