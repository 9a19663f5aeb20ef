import type { MessagePort } from 'node:worker_threads'
import { quickJsMachine, type ScriptText, type SliceEnd } from './quickjs.ts'

/** One slice of time for one script. */
export interface ScriptSlice {
  readonly script: ScriptText
  readonly sliceMs: number
  /** A value with more JSON than this is not sent. */
  readonly valueBytes: number
}

export interface SliceReport {
  readonly end: SliceEnd | { readonly isTooLarge: true }
  /** The processor time that the slice used. */
  readonly usedMs: number
}

/** A thread sends one without a report when it has started. */
export interface ThreadMessage {
  /** The thread's processor time so far. */
  readonly cpuMs: number
  readonly report?: SliceReport
}

const LIMITS = { memoryBytes: 128 << 20, stackBytes: 128 << 10 }

/** Serves a thread that runs expressions: one slice at a time, each answered with one report. */
export function serveExpressions(port: MessagePort, cpuMs: () => number): void {
  const machine = quickJsMachine(cpuMs, LIMITS)
  const send = (message: ThreadMessage): void => port.postMessage(message)
  const report = async ({ script, sliceMs, valueBytes }: ScriptSlice): Promise<SliceReport> => {
    const from = cpuMs()
    const end = await machine.run(script, sliceMs)
    const isTooLarge = 'json' in end && Buffer.byteLength(end.json) > valueBytes
    return { end: isTooLarge ? { isTooLarge } : end, usedMs: cpuMs() - from }
  }
  // Sent before the first slice, which may never end: the pool needs the start value of the counter.
  const ready = machine.open().then(() => send({ cpuMs: cpuMs() }))
  port.on('message', async (slice: ScriptSlice) => {
    await ready
    const done = await report(slice)
    send({ cpuMs: cpuMs(), report: done })
  })
}
