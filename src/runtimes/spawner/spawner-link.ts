import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../base/clock.ts'
import type { Launch, LaunchEnd, LauncherFacts, LaunchListener, LaunchSpec } from '../launcher/launcher.ts'
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

export interface SpawnerLinkOptions extends SpawnerOpening {
  /** The path of Node, and of the file that calls `serveSpawner`. */
  readonly node: string
  readonly entry: URL
  readonly send: LocalLauncherOptions['send']
  readonly clock: Pick<Clock, 'after'>
}

/**
 * A spawner that has not exited this long after it was told to is killed: longer than its own limit for killing
 * processes.
 */
const CLOSE_MS = 15_000

/** Few threads and a small heap: it handles a few kilobytes at a time, and each fork copies its page tables. */
const NODE_FLAGS = [
  '--max-semi-space-size=1',
  '--max-old-space-size=128',
  '--v8-pool-size=0',
  '--single-threaded-gc',
  '--no-warnings',
]
/** The end of a failed spawner's error output. */
const WORDS_BYTES = 2000

const PRLIMIT = '/usr/bin/prlimit'

/** Disables core dumps for every process that a spawner starts: their size and contents are not bounded. */
const withoutCores = (): readonly string[] => (existsSync(PRLIMIT) ? [PRLIMIT, '--core=0', '--'] : [])

interface Entry {
  readonly listener: LaunchListener
  /** Writes that wait for an acknowledgement. */
  readonly writes: (() => void)[]
}

/** The worker's end of one spawner process. */
export class SpawnerLink {
  readonly facts: Promise<LauncherFacts>
  readonly #options: SpawnerLinkOptions
  readonly #process: ChildProcess
  readonly #writer: FrameWriter
  readonly #socket: Socket
  readonly #exited: Promise<void>
  readonly #launches = new Map<number, Entry>()
  readonly #hello = Promise.withResolvers<LauncherFacts>()
  #numbers = 0
  #isStarting = true
  #words = ''
  isDead = false

  constructor(options: SpawnerLinkOptions) {
    this.#options = options
    const [program, ...args] = [...withoutCores(), options.node, ...NODE_FLAGS, fileURLToPath(options.entry)]
    this.#process = spawn(program as string, args, {
      cwd: '/',
      env: {},
      detached: true, // Ctrl-C in a terminal is for the worker, which then shuts down in order
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    this.#socket = this.#process.stdio[3] as Socket
    this.#writer = new FrameWriter(this.#socket)
    this.facts = this.#hello.promise
    this.facts.catch(() => {}) // reported to each caller of `ready`
    const reader = new SpawnerFrameReader(this.#hear)
    this.#socket.on('data', (chunk) => reader.push(chunk))
    this.#socket.on('error', () => {})
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#words = (this.#words + chunk.toString()).slice(-WORDS_BYTES)
    })
    this.#exited = new Promise((resolve) => {
      const dead = (why: string) => {
        this.#die(why)
        resolve()
      }
      this.#process.once('error', (error) => dead(error.message))
      this.#process.once('close', (code, signal) => dead(`it ended with ${signal ?? code}. ${this.#words}`.trim()))
    })
    const { name, folder, useGroups } = options
    this.#writer.json(SPAWNER_FRAME.open, 0, { name, folder, useGroups } satisfies SpawnerOpening)
    this.#keepAlive()
  }

  expect(): void {
    this.#writer.send(SPAWNER_FRAME.expect, 0)
  }

  start(order: LaunchSpec, listener: LaunchListener): Launch {
    const number = ++this.#numbers
    const entry: Entry = { listener, writes: [] }
    this.#launches.set(number, entry)
    this.#keepAlive()
    this.#writer.json(SPAWNER_FRAME.start, number, order)
    return {
      write: (bytes) =>
        new Promise((resolve) => {
          if (!this.#launches.has(number)) return resolve()
          entry.writes.push(resolve)
          this.#writer.send(SPAWNER_FRAME.input, number, bytes)
        }),
      endInput: () => this.#say(SPAWNER_FRAME.endInput, number),
      stop: () => this.#say(SPAWNER_FRAME.stop, number),
      signal: (name) => this.#say(SPAWNER_FRAME.signal, number, name),
      resize: (size) => this.#say(SPAWNER_FRAME.resize, number, size),
      release: () => this.#say(SPAWNER_FRAME.release, number),
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

  #say(kind: FrameKind, number: number, value?: unknown): void {
    if (!this.#launches.has(number)) return
    if (value === undefined) this.#writer.send(kind, number)
    else this.#writer.json(kind, number, value)
  }

  readonly #hear: FrameTaker = (kind, number, payload) => {
    if (kind === SPAWNER_FRAME.hello) {
      this.#hello.resolve(jsonIn(payload) as LauncherFacts)
      this.#isStarting = false
      this.#keepAlive()
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
    this.#keepAlive()
    for (const written of entry?.writes.splice(0) ?? []) written()
    entry?.listener.ended(end)
  }

  #die(why: string): void {
    if (this.isDead) return
    this.isDead = true
    const what = `the spawner has failed: ${why}`
    this.#hello.reject(new Error(what))
    // Its processes have lost the spawner that would have ended them.
    if (this.#launches.size > 0) sweep(this.#options)
    for (const number of [...this.#launches.keys()]) this.#end(number, { kind: 'lost', what })
  }

  /** An idle spawner must not keep the worker's event loop alive. */
  #keepAlive(): void {
    const change = this.#isStarting || this.#launches.size > 0 ? 'ref' : 'unref'
    this.#process[change]()
    this.#socket[change]()
    ;(this.#process.stderr as Socket | null)?.[change]()
  }
}
