import { spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'

/**
 * Pipes between the launcher and its processes. Node's own are socket pairs, and a socket cannot be opened by name:
 * `echo oops > /dev/stderr`, common in build scripts, would fail. So these are named pipes, made in batches, because
 * each batch needs a run of mkfifo(1). Each pipe serves one process and its name is deleted as soon as both ends are
 * open. It is never reused: the process may own it and can change its mode, access list or size.
 */
export interface PipePool {
  /** False where none can be made; Node's sockets are used then. */
  readonly isAvailable: boolean
  /** Accessible to this user only. */
  readonly folder: string
  /** A pipe that a process writes to. */
  forOutput(): Pipe
  /** A pipe that a process reads from. */
  forInput(): Pipe
  close(): Promise<void>
}

export interface Pipe {
  /** The process's end; `started` closes it after the start. */
  readonly theirs: number
  readonly ours: Socket
  started(): void
  finish(): void
}

/** Pipes per batch. A run uses two to five. */
const BATCH = 128
/** When fewer pipes than this are left, the next batch is made in the background. */
const FEW = 48
const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants

/** Makes the folder, closed to other users because the pipes in it are open to all. */
export function pipePool(parent: string): PipePool {
  const folder = join(parent, 'pipes')
  rmSync(folder, { recursive: true, force: true }) // left by an earlier process
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const unused = unusedPipes(folder)
  const isAvailable = unused.make()
  return {
    isAvailable,
    folder,
    forOutput: () =>
      unused.use((path) => {
        const read = openSync(path, O_RDONLY | O_NONBLOCK) // without a writer a blocking open would wait
        const write = openOrClose(path, O_WRONLY, [read])
        return pipe(write, new Socket({ fd: read, readable: true, writable: false }))
      }),
    forInput: () =>
      unused.use((path) => {
        const both = openSync(path, O_RDWR) // never blocks, and lets the two opens below succeed at once
        const read = openOrClose(path, O_RDONLY, [both])
        const write = openOrClose(path, O_WRONLY | O_NONBLOCK, [both, read])
        closeSync(both)
        return pipe(read, new Socket({ fd: write, readable: false, writable: true }))
      }),
    async close() {
      await unused.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface UnusedPipes {
  /** Waits for `mkfifo` to make a batch of pipes. Returns false where that fails. */
  make(): boolean
  /** Calls `open` with the path of an unused pipe, and deletes the path when `open` returns or throws. */
  use(open: (path: string) => Pipe): Pipe
  close(): Promise<void>
}

function unusedPipes(folder: string): UnusedPipes {
  const paths: string[] = []
  let made = 0
  let making: Promise<void> | undefined
  let isClosed = false
  const nextBatch = (): string[] => Array.from({ length: BATCH }, () => join(folder, `${made++}`))

  function make(): boolean {
    const batch = nextBatch()
    const { status } = spawnSync('mkfifo', [...MODE, ...batch], { stdio: 'ignore' })
    if (status === 0) paths.push(...batch)
    return status === 0
  }

  /** After a failure, the next run that finds no pipe makes a batch itself and reports the failure. */
  async function makeInBackground(): Promise<void> {
    if (isClosed) return
    const batch = nextBatch()
    const child = spawn('mkfifo', [...MODE, ...batch], { stdio: 'ignore' })
    const code = await new Promise<number | null>((resolve) => {
      child.once('exit', resolve)
      child.once('error', () => resolve(null))
    })
    if (code === 0) paths.push(...batch)
    making = undefined
  }

  return {
    make,
    use(open) {
      if (paths.length === 0 && !make()) throw new Error('no named pipe could be made')
      const path = paths.pop() as string
      if (paths.length < FEW) making ??= makeInBackground()
      try {
        return open(path)
      } finally {
        rmSync(path, { force: true })
      }
    },
    async close() {
      isClosed = true
      await making
    },
  }
}

/** A process under another user must be able to open its own output by name, which stricter modes would prevent. */
const MODE = ['-m', '666', '--'] as const

function pipe(theirs: number, ours: Socket): Pipe {
  let isClosed = false
  const started = (): void => {
    if (!isClosed) closeSync(theirs)
    isClosed = true
  }
  return {
    theirs,
    ours,
    started,
    finish() {
      started()
      ours.destroy()
    },
  }
}

/** Closes the other descriptors when the open fails: a spawner would never close them. */
function openOrClose(path: string, flags: number, others: readonly number[]): number {
  try {
    return openSync(path, flags)
  } catch (error) {
    for (const fd of others) closeSync(fd)
    throw error
  }
}
