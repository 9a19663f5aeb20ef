import type { ChildProcess, StdioOptions } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import { handedFiles } from './handed-files.ts'
import type { LaunchListener, LaunchSpec, OutputName } from './launcher.ts'
import { OutputWindow } from './output-window.ts'
import type { Pipe, PipePool } from './pipe-pool.ts'
import { terminalLine } from './terminal-line.ts'

/** The standard streams of one process: two windows for its output, and its input. */
export interface ProcessStreams {
  readonly stdio: StdioOptions
  /** Closes the launcher's copies of the process's ends. */
  started(child: ChildProcess): void
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  /** Sends a size to the process's terminal; ignored when it has none or does not read it. */
  writeTerminal(line: string): void
  /** Resolves with true when all output has been forwarded, and with false when it has not ended within this time. */
  drained(ms: number, after: Clock['after']): Promise<boolean>
  /** The process has written its status, or has no status pipe: its room is ready. */
  hasStatusText(): boolean
  /**
   * Resolves when `hasStatusText` is true or cannot become true: the status pipe has ended, or had no data within this
   * time.
   */
  statusArrived(ms: number, after: Clock['after']): Promise<unknown>
  /** The text of the status pipe, after the streams have ended. */
  status(): string | undefined
  finish(): void
}

const NAMES: readonly OutputName[] = ['stdout', 'stderr']
const STATUS_BYTES = 4096

/** The listener for output, and the callback for output beyond the flood limit. */
export interface StreamEars {
  readonly listener: LaunchListener
  readonly flooded: () => void
  /** Receives the text of the status pipe as it arrives. */
  readonly status: (words: string) => void
}

export function processStreams(order: LaunchSpec, pool: PipePool, ears: StreamEars): ProcessStreams {
  const { handed, pipes, outputs, statusPipe, input, terminal } = openEnds(order, pool)
  const stdin = input?.theirs ?? (order.hasInput ? 'pipe' : 'ignore')
  let reader: Writable | undefined = input?.ours
  let ended: Promise<unknown> = Promise.resolve()
  let status: string | undefined
  let hasStatusText = order.hasStatus !== true
  const statusArrived = Promise.withResolvers<void>()
  if (hasStatusText) statusArrived.resolve()
  const flow = new Flow(order, ears)
  reader?.on('error', () => {}) // the process has closed its end
  return {
    stdio: [
      stdin,
      ...(outputs?.map(({ theirs }) => theirs) ?? ['pipe', 'pipe']),
      ...handed.fds,
      ...(order.hasStatus === true ? [statusPipe?.theirs ?? 'pipe'] : []),
      ...terminal.stdio,
    ] as StdioOptions,
    started(child) {
      for (const pipe of pipes) pipe.started()
      handed.close()
      reader ??= child.stdin ?? undefined
      child.stdin?.on('error', () => {})
      const sources: readonly (Readable | Socket | null)[] = outputs?.map(({ ours }) => ours) ?? [
        child.stdout,
        child.stderr,
      ]
      const words = statusPipe?.ours ?? (child.stdio[3 + handed.fds.length] as Socket | null | undefined)
      const arrived = (text: string): void => {
        hasStatusText = true
        ears.status(text)
        statusArrived.resolve()
      }
      const statusRead =
        order.hasStatus === true ? textOf(words ?? null, arrived).then((text) => (status = text)) : undefined
      void statusRead?.then(() => statusArrived.resolve())
      ended = Promise.all([...sources.map((source, i) => flow.handOver(source, NAMES[i] as OutputName)), statusRead])
    },
    write: (bytes) =>
      new Promise((resolve) => {
        if (reader === undefined || reader.destroyed || !reader.writable) resolve()
        else reader.write(bytes, () => resolve())
      }),
    endInput: () => void reader?.end(),
    writeTerminal: terminal.tell,
    drained: (ms, after) => within(ended, ms, after),
    hasStatusText: () => hasStatusText,
    statusArrived: (ms, after) => (hasStatusText ? statusArrived.promise : within(statusArrived.promise, ms, after)),
    status: () => status,
    finish() {
      handed.close()
      for (const pipe of pipes) pipe.finish()
      reader?.destroy()
    },
  }
}

/** Opens all descriptors of a process, or none: a failure closes those that were opened before it. */
function openEnds(order: LaunchSpec, pool: PipePool) {
  const handed = handedFiles(order.handed ?? [], pool.folder)
  const pipes: Pipe[] = []
  const opened = (pipe: Pipe): Pipe => {
    pipes.push(pipe)
    return pipe
  }
  try {
    const outputs = pool.isAvailable ? NAMES.map(() => opened(pool.forOutput())) : undefined
    const statusPipe = order.hasStatus === true && pool.isAvailable ? opened(pool.forOutput()) : undefined
    const input = order.hasInput && pool.isAvailable ? opened(pool.forInput()) : undefined
    const terminal = terminalLine(order, pool)
    pipes.push(...terminal.pipes)
    return { handed, pipes, outputs, statusPipe, input, terminal }
  } catch (error) {
    handed.close()
    for (const pipe of pipes) pipe.finish()
    throw error
  }
}

const within = (ended: Promise<unknown>, ms: number, after: Clock['after']): Promise<boolean> =>
  new Promise((resolve) => {
    const giveUp = after(ms, () => resolve(false))
    void ended.then(() => {
      giveUp()
      resolve(true)
    })
  })

/** Counts both outputs of one process together. */
class Flow {
  readonly #order: LaunchSpec
  readonly #ears: StreamEars
  #bytes = 0

  constructor(order: LaunchSpec, ears: StreamEars) {
    this.#order = order
    this.#ears = ears
  }

  /** Resolves when the stream has ended or failed. */
  handOver(source: Readable | null, name: OutputName): Promise<void> {
    const window = new OutputWindow(this.#order.outputBytes)
    const { listener } = this.#ears
    return new Promise((resolve) => {
      if (source === null) return resolve()
      source.on('data', (bytes: Buffer) => {
        const now = window.push(bytes)
        if (now !== undefined) listener.output(name, now)
        this.#count(bytes.length)
      })
      source.on('error', () => {})
      source.once('close', () => {
        if (window.dropped > 0) listener.dropped(name, window.dropped, window.tail())
        resolve()
      })
    })
  }

  #count(bytes: number): void {
    const { outputFloodBytes = Number.POSITIVE_INFINITY } = this.#order.limits
    const before = this.#bytes
    this.#bytes += bytes
    if (before <= outputFloodBytes && this.#bytes > outputFloodBytes) this.#ears.flooded()
  }
}

/** Keeps only the first bytes, because the command may also write to the pipe. */
function textOf(source: Readable | null, arrived: (words: string) => void): Promise<string> {
  let words = ''
  return new Promise((resolve) => {
    if (source === null) return resolve(words)
    source.on('data', (bytes: Buffer) => {
      if (words.length >= STATUS_BYTES) return
      const more = bytes.toString('latin1').slice(0, STATUS_BYTES)
      words += more
      arrived(more)
    })
    source.on('error', () => {})
    source.once('close', () => resolve(words))
  })
}
