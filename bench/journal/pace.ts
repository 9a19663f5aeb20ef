import { monitorEventLoopDelay } from 'node:perf_hooks'
import { since, threadTimes } from './thread-times.ts'

/** How tasks start. */
export interface Pace {
  readonly lives: number
  /** Tasks that start per second; without it, as many as `open` allows. */
  readonly perSecond?: number
  /** The most tasks that are open at once. */
  readonly open: number
}

/** The cost of a run. */
export interface Cost {
  readonly perSecond: number
  /**
   * CPU µs per task: on this thread, on the journal's writer, on V8's threads (collecting, compiling), and on all
   * others.
   */
  readonly mainMicros: number
  readonly writerMicros: number
  readonly v8Micros: number
  readonly otherMicros: number
  readonly loopP99: number
  /** The share of time in which this thread was runnable but had no core, because of other processes. */
  readonly keptWaiting: number
}

/** Runs `one` for each task at the given pace. `one` calls `over` when its task has ended. */
export async function measured(pace: Pace, one: (number: number, over: () => void) => void): Promise<Cost> {
  const threads = threadTimes()
  const before = { all: process.cpuUsage(), main: process.threadCpuUsage(), at: performance.now() }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await begin(pace, one)
  delay.disable()
  const ms = performance.now() - before.at
  const all = microseconds(process.cpuUsage(before.all))
  const main = microseconds(process.threadCpuUsage(before.main))
  const now = threadTimes()
  const writer = since(threads, 'journal writer', now).ran
  const v8 = since(threads, 'V8Worker', now).ran
  return {
    perSecond: (pace.lives / ms) * 1000,
    mainMicros: main / pace.lives,
    writerMicros: writer / pace.lives,
    v8Micros: v8 / pace.lives,
    otherMicros: Math.max(0, all - main - writer - v8) / pace.lives,
    loopP99: delay.percentile(99) / 1e6 - 1, // the monitor includes its own sleep of 1 ms
    keptWaiting: since(threads, 'MainThread', now).waited / 1000 / ms,
  }
}

/**
 * Starts tasks when they are due and `open` allows it; resolves when all have ended. It never polls, because CPU is
 * measured.
 */
function begin({ lives, perSecond, open }: Pace, one: (number: number, over: () => void) => void): Promise<void> {
  const start = performance.now()
  let begun = 0
  let ended = 0
  return new Promise((resolve) => {
    const over = (): void => {
      if (++ended === lives) resolve()
      else if (perSecond === undefined) more(lives)
    }
    const more = (due: number): void => {
      while (begun < due && begun - ended < open) one(begun++, over)
    }
    const tick = (): void => {
      more(Math.min(lives, ((performance.now() - start) / 1000) * (perSecond ?? 0)))
      if (begun < lives) setTimeout(tick, 1)
    }
    if (perSecond === undefined) more(lives)
    else tick()
  })
}

const microseconds = ({ user, system }: { user: number; system: number }): number => user + system
