import type { Clock } from '../../base/clock.ts'
import { backoff } from './backoff.ts'
import type { HttpAnswer, HttpCaller } from './http-caller.ts'

export interface HttpReportsOptions {
  readonly caller: HttpCaller
  readonly clock: Clock
  readonly random: () => number
  /** Stops the retries. */
  readonly signal: AbortSignal
}

export interface Putting {
  readonly timeoutMs: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The reports of a worker to its server. */
export interface HttpReports {
  put(path: string, json: object, putting: Putting): Promise<HttpAnswer>
  /** Retries until the server answers, or the number of tries is reached; resolves with the status, or 0 for none. */
  send(path: string, json: object, mostTries?: number): Promise<number>
}

/** The server answers after it has recorded the report. */
const REPORT_MS = 60_000

export function httpReports({ caller, clock, random, signal }: HttpReportsOptions): HttpReports {
  const put: HttpReports['put'] = (path, json, { timeoutMs, headers }) =>
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
    async send(path, json, mostTries = Number.POSITIVE_INFINITY) {
      const pauses = backoff(clock, random)
      for (let tries = 1; ; tries++) {
        const status = await put(path, json, { timeoutMs: REPORT_MS }).then(
          (answer) => answer.status,
          () => 0,
        )
        if (!isTemporary(status) || tries >= mostTries || signal.aborted) return status
        await pauses.pause(signal)
      }
    },
  }
}

export const isTaken = (status: number): boolean => status >= 200 && status < 300

/**
 * True for statuses that are retried: no answer, or the answer of a proxy. Every other status is the server's answer.
 */
export const isTemporary = (status: number): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500
