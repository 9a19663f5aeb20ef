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
import type { CommandTask } from '../../model/command-task.ts'
import { PLAIN_COMMAND, type Run, type RunEnd, type Runtime } from '../../runtimes/run/runtime.ts'
import { HeldRun } from '../rooms/prepared-room.ts'
import type { OpenRoom } from '../rooms/rooms.ts'
import { type WarmShape, warmCode } from './warm-shape.ts'

/**
 * An interpreter that was started in a room as for a run of its shape, for example `python3 main.py`. Only the code is
 * missing: `main.py` is a named pipe, and opening it is the last step of the interpreter before it blocks. Then an
 * empty file replaces the pipe. When a task arrives, its files are placed, its code is written to this file, and a copy
 * of the code is written to the pipe. The interpreter is unmodified and its room is like any other: it contains no
 * program, descriptor or variable of the worker. Output, exit code and stack traces equal those of a normal start.
 *
 * A waiting interpreter serves one run.
 */
export class WaitingInterpreter {
  readonly shape: WarmShape
  readonly room: OpenRoom
  readonly #path: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #input = Promise.withResolvers<AsyncIterable<Uint8Array>>()
  readonly #held: HeldRun
  #pipe: number | undefined
  /** The open file that replaced the pipe, until code is written to it. */
  #codeFile: number | undefined
  #code: Uint8Array | undefined

  constructor(shape: WarmShape, room: OpenRoom, { runtime, clock }: { runtime: Pick<Runtime, 'run'>; clock: Clock }) {
    this.shape = shape
    this.room = room
    this.#clock = clock
    this.#path = join(room.path, shape.file)
    const { argv, env, platform, limits } = shape
    const stdin = shape.hasInput ? inputOf(this.#input.promise) : undefined
    this.#held = new HeldRun({ command: { ...PLAIN_COMMAND, argv, env, platform }, room, limits, runtime, stdin })
  }

  /** The interpreter waits for code. An interpreter that has printed something is not in the expected state. */
  get isReady(): boolean {
    return this.#pipe !== undefined && !this.#held.hasEnded && !this.#held.hasPrinted
  }

  get hasEnded(): boolean {
    return this.#held.hasEnded
  }

  /**
   * Resolves with true when the interpreter has opened the pipe; with false when it has ended, or did not open it in
   * `POLLS` polls.
   */
  async ready(): Promise<boolean> {
    for (let poll = 0; poll < POLLS && !this.#held.hasEnded; poll++) {
      this.#pipe = openPipe(this.#path)
      if (this.#pipe !== undefined) {
        this.#codeFile = replacePipe(this.#path, this.#pipe)
        return this.isReady
      }
      await this.#pause(POLL_MS)
    }
    return false
  }

  /** Writes the code of a task that has no other input into the open file. Otherwise the room is empty afterwards. */
  placeInputs(task: CommandTask): boolean {
    const code = warmCode(task, this.shape.file)
    if (code !== undefined && this.#wroteCode(code)) return true
    this.#removeCodeFile()
    return false
  }

  #wroteCode({ contents, executable }: { readonly contents: Uint8Array; readonly executable: boolean }): boolean {
    if (this.#codeFile === undefined) return false
    try {
      writeFileSync(this.#codeFile, contents)
      if (executable) fchmodSync(this.#codeFile, 0o755)
      this.#code = contents
      return true
    } catch {
      return false // the caller places the file itself and reports the error
    } finally {
      this.#closeCodeFile()
    }
  }

  #removeCodeFile(): void {
    this.#closeCodeFile()
    this.#code = undefined
    rmSync(this.#path, { force: true })
  }

  /** The files of the task are in the room, unchanged: nothing has run there. */
  run(run: Run, signal: AbortSignal): Promise<RunEnd> {
    const code = this.#code ?? readFileSync(this.#path)
    const feed = (): Promise<void> => this.#pour(code)
    if (run.hooks.stdin !== undefined) this.#input.resolve(run.hooks.stdin)
    return this.#held.release(run, feed, signal)
  }

  /** Resolves when the interpreter has ended. The room is empty then, unless a task has placed its files. */
  async close(): Promise<void> {
    const closed = this.#held.close()
    this.#closePipe()
    if (this.#codeFile !== undefined) this.#removeCodeFile()
    await closed
  }

  /** Writes a part whenever the pipe has space: the interpreter reads meanwhile. */
  async #pour(code: Uint8Array): Promise<void> {
    for (let at = 0; at < code.length && this.#pipe !== undefined && !this.#held.hasEnded; ) {
      const written = tryWrite(this.#pipe, code.subarray(at))
      if (written === undefined) break // the interpreter has closed the pipe
      if (written === 0) await this.#pause(1)
      at += written
    }
    this.#closePipe()
  }

  #closePipe(): void {
    if (this.#pipe !== undefined) closeSync(this.#pipe)
    this.#pipe = undefined
  }

  #closeCodeFile(): void {
    if (this.#codeFile !== undefined) closeSync(this.#codeFile)
    this.#codeFile = undefined
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve))
  }
}

/** Ten seconds in total, for an interpreter on a busy machine. */
const POLLS = 2000
const POLL_MS = 5

/** Undefined while no process has opened the pipe for reading. Never blocks, and never follows a symlink. */
function openPipe(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
}

/**
 * Replaces the pipe by an empty file of the same owner; undefined when that fails. No command has run in the room yet.
 */
function replacePipe(path: string, pipe: number): number | undefined {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  let file: number | undefined
  try {
    const { uid, gid } = fstatSync(pipe)
    rmSync(path)
    file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
    const own = fstatSync(file)
    if (own.uid !== uid || own.gid !== gid) fchownSync(file, uid, gid)
    return file
  } catch {
    if (file !== undefined) closeSync(file)
    rmSync(path, { force: true })
    return undefined
  }
}

/** 0 when the pipe is full, undefined when no process reads it. */
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
