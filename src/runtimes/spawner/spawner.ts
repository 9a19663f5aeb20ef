import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Launch, LaunchEnd, Launcher, LauncherFacts, LaunchListener, LaunchSpec } from '../launcher/launcher.ts'
import { type LocalLauncherOptions, sweep } from '../launcher/local-launcher.ts'
import {
  droppedIn,
  type FrameKind,
  type FrameTaker,
  FrameWriter,
  jsonIn,
  SPAWNER_FRAME,
  SpawnerFrameReader,
} from './frames.ts'
import type { SpawnerOpening } from './serve-spawner.ts'
import { type SpawnerProgram, startSpawner } from './start-spawner.ts'

export interface SpawnerOptions extends SpawnerOpening, SpawnerProgram {
  readonly send: LocalLauncherOptions['send']
  readonly clock: Pick<Clock, 'after'>
}

/**
 * A large process should not fork: starting a program takes 87 ms from a process with 2 GB resident, and 1.4 ms from a
 * small one. So a worker has a small child process that starts all programs. When that process dies, the processes that
 * it started are killed, and the next launch starts a new spawner.
 */
export function spawner(options: SpawnerOptions): Launcher {
  let link: SpawnerLink | undefined
  let isClosed = false
  const living = (): SpawnerLink => {
    if (isClosed) throw new Error('the spawner is closed')
    if (link === undefined || link.isDead) link = new SpawnerLink(options)
    return link
  }
  living() // so that the first launch does not wait for it
  return {
    facts: () => living().facts,
    expect: () => living().expect(),
    start: (order, listener) => living().start(order, listener),
    async close() {
      isClosed = true
      await link?.close()
    },
  }
}

/**
 * The time after which a spawner is killed if it has not exited since its socket was closed. It is longer than the
 * spawner's own time limit for killing its processes.
 */
const CLOSE_MS = 15_000
/** The length of the end of its error output that is reported when it fails. */
const ERROR_BYTES = 2000

interface Entry {
  readonly listener: LaunchListener
  /** Writes that wait for an acknowledgement. */
  readonly writes: (() => void)[]
}

/** The worker's end of one spawner process. */
class SpawnerLink {
  readonly facts: Promise<LauncherFacts>
  readonly #options: SpawnerOptions
  readonly #process: ChildProcess
  readonly #writer: FrameWriter
  readonly #socket: Socket
  readonly #exited: Promise<void>
  readonly #launches = new Map<number, Entry>()
  readonly #hello = Promise.withResolvers<LauncherFacts>()
  #numbers = 0
  /** The spawner keeps the event loop of the worker alive. */
  #isReferenced = true
  #errors = ''
  isDead = false

  constructor(options: SpawnerOptions) {
    this.#options = options
    this.#process = startSpawner(options)
    this.#socket = this.#process.stdio[3] as Socket
    this.#writer = new FrameWriter(this.#socket)
    this.facts = this.#hello.promise
    this.facts.catch(() => {}) // reported to each caller of `facts`
    const reader = new SpawnerFrameReader(this.#receive)
    this.#socket.on('data', (chunk) => reader.push(chunk))
    this.#socket.on('error', () => {})
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-ERROR_BYTES)
    })
    this.#exited = new Promise((resolve) => {
      const dead = (why: string) => {
        this.#die(why)
        resolve()
      }
      this.#process.once('error', (error) => dead(error.message))
      this.#process.once('close', (code, signal) => dead(`it ended with ${signal ?? code}. ${this.#errors}`.trim()))
    })
    const { name, folder, useGroups } = options
    this.#writer.json(SPAWNER_FRAME.open, 0, { name, folder, useGroups } satisfies SpawnerOpening)
  }

  expect(): void {
    this.#writer.send(SPAWNER_FRAME.expect, 0)
  }

  start(order: LaunchSpec, listener: LaunchListener): Launch {
    const number = ++this.#numbers
    const entry: Entry = { listener, writes: [] }
    this.#launches.set(number, entry)
    this.#reference(true)
    this.#writer.json(SPAWNER_FRAME.start, number, order)
    return {
      write: (bytes) =>
        new Promise((resolve) => {
          if (!this.#launches.has(number)) return resolve()
          entry.writes.push(resolve)
          this.#writer.send(SPAWNER_FRAME.input, number, bytes)
        }),
      endInput: () => this.#send(SPAWNER_FRAME.endInput, number),
      stop: () => this.#send(SPAWNER_FRAME.stop, number),
      signal: (name) => this.#send(SPAWNER_FRAME.signal, number, name),
      resize: (size) => this.#send(SPAWNER_FRAME.resize, number, size),
      release: () => this.#send(SPAWNER_FRAME.release, number),
    }
  }

  async close(): Promise<void> {
    this.#process.ref()
    this.#socket.end()
    const forget = this.#options.clock.after(CLOSE_MS, () => {
      this.#process.kill('SIGKILL')
      sweep(this.#options)
    })
    await this.#exited
    forget()
  }

  /** A launch that has ended needs no further message. */
  #send(kind: FrameKind, number: number, value?: unknown): void {
    if (!this.#launches.has(number)) return
    if (value === undefined) this.#writer.send(kind, number)
    else this.#writer.json(kind, number, value)
  }

  readonly #receive: FrameTaker = (kind, number, payload) => {
    if (kind === SPAWNER_FRAME.hello) {
      this.#hello.resolve(jsonIn(payload) as LauncherFacts)
      if (this.#launches.size === 0) this.#reference(false)
    }
    const entry = this.#launches.get(number)
    if (entry === undefined) return
    const { listener } = entry
    if (kind === SPAWNER_FRAME.stdout) listener.output('stdout', payload)
    else if (kind === SPAWNER_FRAME.stderr) listener.output('stderr', payload)
    else if (kind === SPAWNER_FRAME.started) listener.started()
    else if (kind === SPAWNER_FRAME.wrote) entry.writes.shift()?.()
    else if (kind === SPAWNER_FRAME.ended) this.#end(number, jsonIn(payload) as LaunchEnd)
    else if (kind === SPAWNER_FRAME.stdoutDropped || kind === SPAWNER_FRAME.stderrDropped) {
      const { count, tail } = droppedIn(payload)
      listener.dropped(kind === SPAWNER_FRAME.stdoutDropped ? 'stdout' : 'stderr', count, tail)
    }
  }

  #end(number: number, end: LaunchEnd): void {
    const entry = this.#launches.get(number)
    this.#launches.delete(number)
    if (this.#launches.size === 0) this.#reference(false)
    for (const written of entry?.writes.splice(0) ?? []) written()
    entry?.listener.ended(end)
  }

  #die(why: string): void {
    if (this.isDead) return
    this.isDead = true
    const what = `the spawner has failed: ${why}`
    this.#hello.reject(new Error(what))
    // The spawner that would have ended these processes is dead.
    if (this.#launches.size > 0) sweep(this.#options)
    for (const number of [...this.#launches.keys()]) this.#end(number, { kind: 'lost', what })
  }

  /** An idle spawner must not keep the worker's event loop alive. */
  #reference(isNeeded: boolean): void {
    if (isNeeded === this.#isReferenced) return
    this.#isReferenced = isNeeded
    const change = isNeeded ? 'ref' : 'unref'
    this.#process[change]()
    this.#socket[change]()
    ;(this.#process.stderr as Socket | null)?.[change]()
  }
}
