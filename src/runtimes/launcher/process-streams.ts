import type { ChildProcess, StdioOptions } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import type { LaunchListener, LaunchOrder, OutputName } from './launcher.ts'
import { OutputWindow } from './output-window.ts'
import type { Pipe, PipePool } from './pipe-pool.ts'

/** The standard streams of one process: two windows on what it writes, and what it is given to read. */
export interface ProcessStreams {
  readonly stdio: StdioOptions
  /** The process has its ends now. */
  started(child: ChildProcess): void
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  /** Resolves when all output has been handed over, or with false when it has not ended after so long. */
  drained(ms: number, after: Clock['after']): Promise<boolean>
  finish(isQuiet: boolean): void
}

const NAMES: readonly OutputName[] = ['stdout', 'stderr']

export function processStreams(order: LaunchOrder, pool: PipePool, listener: LaunchListener): ProcessStreams {
  const outputs = pool.isAvailable ? NAMES.map(() => pool.forOutput()) : undefined
  const input = order.hasInput && pool.isAvailable ? pool.forInput() : undefined
  const pipes: readonly Pipe[] = [...(outputs ?? []), ...(input === undefined ? [] : [input])]
  const stdin = input?.theirs ?? (order.hasInput ? 'pipe' : 'ignore')
  let reader: Writable | undefined = input?.ours
  let ended: Promise<unknown> = Promise.resolve()
  reader?.on('error', () => {}) // the process has closed its end: nobody minds
  return {
    stdio: [stdin, ...(outputs?.map(({ theirs }) => theirs) ?? ['pipe', 'pipe'])] as StdioOptions,
    started(child) {
      for (const pipe of pipes) pipe.started()
      reader ??= child.stdin ?? undefined
      child.stdin?.on('error', () => {})
      const sources: readonly (Readable | Socket | null)[] = outputs?.map(({ ours }) => ours) ?? [
        child.stdout,
        child.stderr,
      ]
      ended = Promise.all(sources.map((source, i) => handOver(source, NAMES[i] as OutputName, { order, listener })))
    },
    write: (bytes) =>
      new Promise((resolve) => {
        if (reader === undefined || reader.destroyed || !reader.writable) resolve()
        else reader.write(bytes, () => resolve())
      }),
    endInput: () => void reader?.end(),
    drained: (ms, after) =>
      new Promise((resolve) => {
        const giveUp = after(ms, () => resolve(false))
        void ended.then(() => {
          giveUp()
          resolve(true)
        })
      }),
    finish(isQuiet) {
      for (const pipe of pipes) pipe.finish(isQuiet)
      reader?.destroy()
    },
  }
}

interface Handing {
  readonly order: LaunchOrder
  readonly listener: LaunchListener
}

/** Resolves when the stream has ended, however it did. */
function handOver(source: Readable | null, name: OutputName, { order, listener }: Handing): Promise<void> {
  const window = new OutputWindow(order.outputBytes)
  return new Promise((resolve) => {
    if (source === null) return resolve()
    source.on('data', (bytes: Buffer) => {
      const now = window.push(bytes)
      if (now !== undefined) listener.output(name, now)
    })
    source.on('error', () => {})
    source.once('close', () => {
      if (window.dropped > 0) listener.dropped(name, window.dropped, window.tail())
      resolve()
    })
  })
}
