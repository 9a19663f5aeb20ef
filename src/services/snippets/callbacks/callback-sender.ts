import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import { byTurns } from './by-turns.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { CallbackRequest, Posted } from './post-callback.ts'

export interface CallbackSenderOptions {
  readonly log: DeliveryLog
  readonly clock: Clock
  /** The request of a callback; undefined when the task was removed. */
  readonly describe: (task: string) => Promise<CallbackContent | undefined>
  /** Sends one request; never rejects. */
  readonly post: (order: CallbackRequest) => Promise<Posted>
  readonly messages?: Log
  /** The pause before each retry. */
  readonly delaysMs?: readonly number[]
  readonly mostAtOnce?: number
}

export type CallbackContent = Pick<CallbackRequest, 'url' | 'secret' | 'body' | 'method'>

/** Sends due callbacks, retries failed deliveries, and gives up after about 15 hours. */
export interface CallbackSender {
  /** The snippet has ended: its callback is sent to this URL. */
  due(task: string, url: string): void
  /** Starts no more deliveries. It does not wait for deliveries in progress: the next start repeats them. */
  close(): void
}

const SECOND = 1000
const DELAYS_MS = [5, 30, 120, 600, 1800, 7200, 14_400, 28_800].map((seconds) => seconds * SECOND)
const MOST_AT_ONCE = 32
const MOST_PER_HOST = 4

export function callbackSender(options: CallbackSenderOptions): CallbackSender {
  const { log, clock, messages = silentLog, delaysMs = DELAYS_MS, mostAtOnce = MOST_AT_ONCE } = options
  const known = new Set<string>()
  const timers = new Set<() => void>()
  let isClosed = false

  // The body is built right before the request, because many callbacks may wait and each body may be long.
  const turns = byTurns<string>({ mostAtOnce, mostPerHost: MOST_PER_HOST }, async (task, host) => {
    const again = await deliver(task).catch((error: unknown) => {
      if (!isClosed) messages.error({ err: error, task }, 'cannot prepare or record a callback')
      return delaysMs[0] ?? SECOND
    })
    if (again === undefined) known.delete(task)
    else if (!isClosed) later(again, () => turns.add(host, task))
  })

  /** Returns when to retry; undefined when no retry follows. */
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
      if (isClosed || known.has(task) || log.of(task)?.state !== 'pending') return
      known.add(task)
      turns.add(URL.canParse(url) ? new URL(url).host : '', task)
    },
    close() {
      isClosed = true
      turns.close()
      for (const takeBack of timers) takeBack()
      timers.clear()
    },
  }
}
