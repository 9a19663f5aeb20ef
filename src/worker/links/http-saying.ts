import type { Clock } from '../../base/clock.ts'
import { backoff } from './backoff.ts'
import type { HttpAnswer, HttpCaller } from './http-caller.ts'

export interface SayingOptions {
  readonly caller: HttpCaller
  readonly clock: Clock
  readonly random: () => number
  /** Ends it. */
  readonly signal: AbortSignal
}

export interface Putting {
  readonly timeoutMs: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What a worker tells its server. */
export interface Saying {
  put(path: string, json: object, putting: Putting): Promise<HttpAnswer>
  /** Says it again until it is answered, or was said often enough; resolves with the status, and 0 when there is none. */
  say(path: string, json: object, mostTries?: number): Promise<number>
}

/** The server answers when what was said is on record. */
const SAY_MS = 60_000

export function saying({ caller, clock, random, signal }: SayingOptions): Saying {
  const put: Saying['put'] = (path, json, { timeoutMs, headers }) =>
    caller.call({
      method: 'PUT',
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(JSON.stringify(json)),
      timeoutMs,
      signal,
    })
  return {
    put,
    async say(path, json, mostTries = Number.POSITIVE_INFINITY) {
      const pauses = backoff(clock, random)
      for (let tries = 1; ; tries++) {
        const status = await put(path, json, { timeoutMs: SAY_MS }).then(
          (answer) => answer.status,
          () => 0,
        )
        if (!isPassing(status) || tries >= mostTries || signal.aborted) return status
        await pauses.pause(signal)
      }
    },
  }
}

export const isTaken = (status: number): boolean => status >= 200 && status < 300

/** Worth saying again: no answer, or none of the server's own. Everything else is one. */
export const isPassing = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500
