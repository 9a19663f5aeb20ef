import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { InlineFile } from '../../model/command.ts'
import type { ProcessControl, Release, Room, Run, RunEnd, RunHooks, Runtime } from '../../runtimes/run/runtime.ts'
import { plainCommand } from '../plain-command.ts'
import type { WarmShape } from './warm-shape.ts'

/**
 * A room in which an interpreter has been started as for a run of its shape, `python3 main.py` say. The one thing that it does not
 * find is the code: `main.py` is a named pipe, and opening that is the last it does before it has to wait. Then the pipe loses
 * its name to an empty file. When a run comes, its files are laid out, the code in this one, and what is in it goes down the
 * pipe. So the interpreter is one that nobody changed, in a room like any other, with nothing of ours in it: no program, no
 * descriptor, no variable; what it prints, how it ends and what stands in its stack are what they would have been.
 *
 * It serves one run and is gone with it.
 */
export class WaitingRoom {
  readonly shape: WarmShape
  readonly room: Room
  readonly #path: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #held = Promise.withResolvers<Release>()
  readonly #input = Promise.withResolvers<AsyncIterable<Uint8Array>>()
  readonly #ending = new AbortController()
  readonly #end: Promise<RunEnd>
  #hooks: RunHooks = {}
  #reins: ProcessControl | undefined
  /** The pipe. */
  #fd: number | undefined
  /** The file that takes the code, open, until there is something in it. */
  #place: number | undefined
  #code: Uint8Array | undefined
  #isOver = false
  #hasSpoken = false

  constructor(shape: WarmShape, room: Room, { runtime, clock }: { runtime: Pick<Runtime, 'run'>; clock: Clock }) {
    this.shape = shape
    this.room = room
    this.#clock = clock
    this.#path = join(room.path, shape.file)
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

  /** Nothing runs in it any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when the interpreter has opened the pipe, or with false when it has not after so many looks, or is gone. */
  async ready(): Promise<boolean> {
    for (let look = 0; look < LOOKS && !this.#isOver; look++) {
      this.#fd = openWritten(this.#path)
      if (this.#fd !== undefined) {
        this.#place = placeFor(this.#path, this.#fd)
        return this.isReady
      }
      await this.#pause(LOOK_MS)
    }
    return false
  }

  /** Puts the code where it belongs, for a run that has nothing else; false when it is not to be put there, or could not be. */
  lays({ path, contents, executable }: InlineFile): boolean {
    if (path !== this.shape.file || this.#place === undefined) return false
    try {
      writeFileSync(this.#place, contents)
      if (executable) fchmodSync(this.#place, 0o755)
      this.#code = contents
      return true
    } catch {
      return false // the caller lays the files out itself and reports the error
    } finally {
      this.#closePlace()
    }
  }

  /** Makes way for the files of a run. */
  clear(): void {
    this.#closePlace()
    this.#code = undefined
    rmSync(this.#path, { force: true })
  }

  /** The files are there, and are untouched: nothing has run in this room. */
  async go(run: Run, signal: AbortSignal): Promise<RunEnd> {
    const code = this.#code ?? readFileSync(this.#path)
    const end = (): void => this.#ending.abort(signal.reason)
    this.#hooks = run.hooks
    if (this.#reins !== undefined) run.hooks.reins?.(this.#reins)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    // First of all, for nothing else is waited for: what it says is heard in a later turn, and that it has started is said in this.
    const poured = signal.aborted ? undefined : this.#pour(code)
    this.#held.resolve({ wallMs: run.limits.wallMs })
    if (run.hooks.stdin !== undefined) this.#input.resolve(run.hooks.stdin)
    try {
      await poured
      return await this.#end
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Resolves when the waiting process has ended. The caller removes the room. */
  async end(): Promise<void> {
    this.#ending.abort()
    this.#close()
    if (this.#place !== undefined) this.clear() // the caller then starts in this room, which is empty
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

  #closePlace(): void {
    if (this.#place !== undefined) closeSync(this.#place)
    this.#place = undefined
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

/** Puts an empty file where the pipe was, of the same owner; undefined when that cannot be. Nobody has been in the room yet. */
function placeFor(path: string, pipe: number): number | undefined {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  let place: number | undefined
  try {
    const { uid, gid } = fstatSync(pipe)
    rmSync(path)
    place = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
    const own = fstatSync(place)
    if (own.uid !== uid || own.gid !== gid) fchownSync(place, uid, gid)
    return place
  } catch {
    if (place !== undefined) closeSync(place)
    rmSync(path, { force: true })
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
