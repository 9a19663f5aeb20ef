import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import type { ScriptSlice, SliceReport, ThreadMessage } from './expression-thread.ts'

export interface MachineThreadOptions {
  readonly file: URL
  /** Whether the thread runs long slices; it then has a lower priority. */
  readonly isLong: boolean
  readonly clock: Pick<Clock, 'after'>
}

/** A thread that runs one slice at a time. It can be stopped at any moment, whatever the script does. */
export interface MachineThread {
  readonly isBusy: boolean
  run(slice: ScriptSlice): Promise<SliceReport>
  /** Ends the thread. Its running slice is reported as late. */
  stop(): Promise<void>
}

/** The interval of checks of a thread that has not reported in time. */
const LOOK_EVERY_MS = 50

interface Running {
  readonly slice: ScriptSlice
  readonly report: (report: SliceReport) => void
}

/** Starts the thread with its first slice, and starts another one after it was stopped. */
export function machineThread({ file, isLong, clock }: MachineThreadOptions): MachineThread {
  let worker: Worker | undefined
  let running: Running | undefined
  /** The thread's processor time at the start of the slice; undefined while the thread starts. */
  let baseMs: number | undefined
  const settle = (report: SliceReport): void => {
    const ended = running
    running = undefined
    worker?.unref()
    ended?.report(report)
  }
  const leave = (report: SliceReport): void => {
    worker = undefined
    baseMs = undefined
    settle(report)
  }
  const stop = async (usedMs: number): Promise<void> => {
    const thread = worker
    leave({ end: { isLate: true }, usedMs })
    await thread?.terminate()
  }
  const watch = (mine: Running): void => {
    const thread = worker
    const from = baseMs
    if (thread === undefined || from === undefined) return
    const isOver = (): boolean => running !== mine || thread !== worker
    watchThread({ thread, untilMs: from + mine.slice.sliceMs, waitMs: mine.slice.sliceMs, clock, isOver }, (cpuMs) => {
      void stop(cpuMs - from)
    })
  }
  const start = (): Worker => {
    const thread = new Worker(file, { workerData: { isLong } })
    thread.on('message', ({ cpuMs, report }: ThreadMessage) => {
      if (thread !== worker) return
      baseMs = cpuMs
      if (report !== undefined) settle(report)
      else if (running !== undefined) watch(running)
    })
    onEnd(thread, (trouble) => {
      if (thread === worker) leave({ end: { trouble }, usedMs: 0 })
    })
    return thread
  }
  return {
    get isBusy() {
      return running !== undefined
    },
    run(slice) {
      const { promise, resolve } = Promise.withResolvers<SliceReport>()
      const mine: Running = { slice, report: resolve }
      running = mine
      worker ??= start()
      worker.ref() // the thread must not keep the process alive
      worker.postMessage(slice)
      if (baseMs !== undefined) watch(mine)
      return promise
    },
    stop: () => stop(0),
  }
}

interface Watch {
  readonly thread: Worker
  /** The thread's processor time at which its slice is used up. */
  readonly untilMs: number
  /** The slice takes at least this long. */
  readonly waitMs: number
  readonly clock: Pick<Clock, 'after'>
  readonly isOver: () => boolean
}

/**
 * Reports a thread that has used its slice and sends no report: QuickJS does not interrupt loops within its built-in
 * functions.
 */
function watchThread({ thread, untilMs, waitMs, clock, isOver }: Watch, used: (cpuMs: number) => void): void {
  const look = async (): Promise<void> => {
    const cpuMs = isOver() ? undefined : await cpuMsOf(thread)
    if (isOver() || cpuMs === undefined) return
    if (cpuMs > untilMs + LOOK_EVERY_MS) used(cpuMs)
    else clock.after(LOOK_EVERY_MS, () => void look())
  }
  clock.after(waitMs + LOOK_EVERY_MS, () => void look())
}

function onEnd(thread: Worker, ended: (trouble: string) => void): void {
  thread.on('error', (error) => ended(`its thread broke: ${error instanceof Error ? error.message : String(error)}`))
  thread.on('exit', () => ended('its thread ended'))
}

/** Undefined for a thread that has ended. */
async function cpuMsOf(thread: Worker): Promise<number | undefined> {
  const used = await thread.cpuUsage().catch(() => undefined)
  return used && (used.user + used.system) / 1000
}
