import { monitorEventLoopDelay } from 'node:perf_hooks'
import { since, threadTimes } from './thread-times.ts'

/** How lives are begun. */
export interface Pace {
  readonly lives: number
  /** Lives that are begun each second; as many as there is room for when not said. */
  readonly perSecond?: number
  /** Lives that are open at once, at most. */
  readonly open: number
}

/** What a run costs, whatever it does. */
export interface Cost {
  readonly perSecond: number
  /** CPU µs a life: on this thread, on the journal's writer, on V8's own (collecting, compiling), and on all others. */
  readonly mainMicros: number
  readonly writerMicros: number
  readonly v8Micros: number
  readonly otherMicros: number
  readonly loopP99: number
  /** The part of the time that this thread could have gone on and had no core: what the machine's other users took. */
  readonly keptWaiting: number
}

/** Runs `one` for each life at the given pace; it calls back when that life is over. */
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
    loopP99: delay.percentile(99) / 1e6 - 1, // it counts the millisecond that it sleeps
    keptWaiting: since(threads, 'MainThread', now).waited / 1000 / ms,
  }
}

/** Begins lives as they are due and as there is room; resolves when all are over. Never spins: the CPU is measured. */
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
