import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, readSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

/**
 * Pipes between us and the processes that we start. Node's own are pairs of sockets, and a socket cannot be opened by
 * name: `echo oops > /dev/stderr`, which build scripts are full of, would fail. So these are named pipes, made some at
 * a time (it takes a program to make one) and used again when nobody has them open any more.
 */
export interface PipePool {
  /** False where none can be made: then Node's sockets have to do. */
  readonly isAvailable: boolean
  /** Closed to everyone else. */
  readonly folder: string
  /** One that a process writes to. */
  forOutput(): Pipe
  /** One that a process reads from. */
  forInput(): Pipe
  close(): void
}

export interface Pipe {
  /** The end for the process, to be closed by `started` when it has been started. */
  readonly theirs: number
  readonly ours: Socket
  started(): void
  /** `isQuiet` says that nobody else can have it open, so that it may be used again. */
  finish(isQuiet: boolean): void
}

/** Made at a time. */
const BATCH = 32
const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants

/** Pipes that nobody uses. */
class PipeNames {
  readonly #folder: string
  readonly #free: string[] = []
  #made = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False where none can be made. */
  more(): boolean {
    const names = Array.from({ length: BATCH }, () => join(this.#folder, `${this.#made++}`))
    // A process under another user must be able to open its own output by name, and could not with stricter bits.
    const { status } = spawnSync('mkfifo', ['-m', '666', ...names], { stdio: 'ignore' })
    if (status === 0) this.#free.push(...names)
    return status === 0
  }

  take(): string {
    for (;;) {
      if (this.#free.length === 0 && !this.more()) throw new Error('no named pipe could be made')
      const path = this.#free.pop() as string
      if (isUnused(path)) return path
      rmSync(path, { force: true })
    }
  }

  giveBack(path: string): void {
    this.#free.push(path)
  }
}

/**
 * Nobody has it open, and nothing is in it. Those who ended are not always gone when they seem to be, and what one run
 * has left must not come to another: so each pipe is looked at once more before it is used.
 */
function isUnused(path: string): boolean {
  const read = openSync(path, O_RDONLY | O_NONBLOCK)
  try {
    return readSync(read, Buffer.alloc(1)) === 0
  } catch {
    return false // somebody may yet write to it
  } finally {
    closeSync(read)
  }
}

/** The folder is made, and closed to everyone else: the pipes in it are open to all. */
export function pipePool(parent: string): PipePool {
  const folder = join(parent, 'pipes')
  const names = new PipeNames(folder)
  const pipe = (path: string, theirs: number, ours: Socket): Pipe => {
    let isClosed = false
    const started = (): void => {
      if (!isClosed) closeSync(theirs)
      isClosed = true
    }
    return {
      theirs,
      ours,
      started,
      finish(isQuiet) {
        started()
        // Only when both ends are closed is what was not read forgotten: it must not reach the next who reads here.
        if (!isQuiet) rmSync(path, { force: true })
        else if (ours.closed) names.giveBack(path)
        else ours.once('close', () => names.giveBack(path))
        ours.destroy()
      },
    }
  }
  rmSync(folder, { recursive: true, force: true }) // of one who died
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isAvailable = names.more()
  return {
    isAvailable,
    folder,
    forOutput() {
      const path = names.take()
      const read = openSync(path, O_RDONLY | O_NONBLOCK) // without a writer a plain open would wait for one
      const write = openSync(path, O_WRONLY)
      return pipe(path, write, new Socket({ fd: read, readable: true, writable: false }))
    },
    forInput() {
      const path = names.take()
      const both = openSync(path, O_RDWR) // never waits; the two opens below have their other side in it
      const read = openSync(path, O_RDONLY)
      const write = openSync(path, O_WRONLY | O_NONBLOCK)
      closeSync(both)
      return pipe(path, read, new Socket({ fd: write, readable: false, writable: true }))
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
