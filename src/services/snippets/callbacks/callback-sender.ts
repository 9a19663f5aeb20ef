import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import { byTurns } from './by-turns.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { CallbackRequest, Posted } from './post-callback.ts'

export interface CallbackSenderOptions {
  readonly log: DeliveryLog
  readonly clock: Clock
  /** The request of a callback; undefined when the task was removed. */
  readonly describe: (task: string) => Promise<CallbackLetter | undefined>
  /** One try; never rejects. */
  readonly post: (order: CallbackRequest) => Promise<Posted>
  readonly messages?: Log
  /** How long to wait before each try after the first. */
  readonly delaysMs?: readonly number[]
  readonly mostAtOnce?: number
}

export type CallbackLetter = Pick<CallbackRequest, 'url' | 'secret' | 'body' | 'method'>

/** Sends what is due, tries again when it was not taken, and gives up in the end: some fourteen hours later. */
export interface CallbackSender {
  /** The snippet is over, and this is where to say so. */
  due(task: string, url: string): void
  /** Nothing is begun any more; what is under way is not waited for: it will be sent again. */
  stop(): void
}

const SECOND = 1000
const DELAYS_MS = [5, 30, 120, 600, 1800, 7200, 14_400, 28_800].map((seconds) => seconds * SECOND)
const MOST_AT_ONCE = 32
const MOST_PER_HOST = 4

export function callbackSender(options: CallbackSenderOptions): CallbackSender {
  const { log, clock, messages = silentLog, delaysMs = DELAYS_MS, mostAtOnce = MOST_AT_ONCE } = options
  const known = new Set<string>()
  const timers = new Set<() => void>()
  let isStopped = false

  // The body is made right before the request: many callbacks may wait, and each may be long.
  const turns = byTurns<string>({ mostAtOnce, mostPerHost: MOST_PER_HOST }, async (task, host) => {
    const again = await deliver(task).catch((error: unknown) => {
      if (!isStopped) messages.error({ err: error, task }, 'cannot prepare or record a callback')
      return delaysMs[0] ?? SECOND
    })
    if (again === undefined) known.delete(task)
    else if (!isStopped) later(again, () => turns.add(host, task))
  })

  /** Answers when to try again; undefined when that is over. */
  const deliver = async (task: string): Promise<number | undefined> => {
    const letter = await options.describe(task)
    if (letter === undefined) return void (await log.drop(task))
    const attempt = (log.of(task)?.tries.length ?? 0) + 1
    const [at, from] = [clock.now(), clock.monotonic()]
    const { status, problem } = await options.post({ ...letter, delivery: task, attempt })
    await log.tried(task, { at, ms: Math.round(clock.monotonic() - from), status, problem })
    const delayMs = problem === undefined ? undefined : delaysMs[attempt - 1]
    if (delayMs !== undefined) return delayMs
    if (problem !== undefined) messages.warn({ task, problem }, 'callback not delivered, giving up')
    await log.settle(task, problem === undefined ? 'delivered' : 'given-up', clock.now())
  }
  const later = (ms: number, act: () => void): void => {
    const takeBack = clock.after(ms, () => {
      timers.delete(takeBack)
      act()
    })
    timers.add(takeBack)
  }

  return {
    due(task, url) {
      if (isStopped || known.has(task) || log.of(task)?.state !== 'pending') return
      known.add(task)
      turns.add(URL.canParse(url) ? new URL(url).host : '', task)
    },
    stop() {
      isStopped = true
      turns.stop()
      for (const takeBack of timers) takeBack()
      timers.clear()
    },
  }
}
