import { FaultError } from '../../base/fault.ts'
import type { HeartbeatAnswer } from '../../wire/workers/heartbeat.ts'
import { heartbeatAnswerFromJson, heartbeatToJson } from '../../wire/workers/json/heartbeat.ts'
import { printedToJson, reportToJson } from '../../wire/workers/json/report.ts'
import type { AttemptState } from '../../wire/workers/report.ts'
import { httpOutputWay, type OutputWayOptions } from './http-output-way.ts'
import type { HttpLinkOptions } from './http-questions.ts'
import { httpRegistration } from './http-registration.ts'
import { httpReports, isTaken, isTemporary } from './http-reports.ts'
import { httpStageResults } from './http-stage-results.ts'
import { gatheredOutput } from './output-line.ts'
import type { Pulse, WorkerLink } from './worker-link.ts'

const HEARTBEAT_MS = 10_000
const OUTPUT_MS = 10_000
const GOODBYE_MS = 5000
const STARTED_TRIES = 5

/** The link over plain HTTP: long polls for leases and for orders, and a request for each report. */
export function httpLink(options: HttpLinkOptions): WorkerLink {
  const { caller, clock, worker } = options
  const closing = new AbortController()
  const registered = httpRegistration({ ...options, signal: closing.signal })
  const own = `/api/v1/workers/${encodeURIComponent(worker)}`
  const taskPath = (attemptId: string): string => `${own}/tasks/${encodeURIComponent(attemptId)}`

  const { put, send } = httpReports({ ...options, signal: closing.signal })
  const report = (attemptId: string, news: AttemptState): Promise<number> =>
    send(`${taskPath(attemptId)}/complete`, reportToJson(news))

  const post: OutputWayOptions['post'] = (attemptId, pieces) =>
    put(`${taskPath(attemptId)}/status`, printedToJson(pieces), { timeoutMs: OUTPUT_MS }).then(
      ({ status }) => !isTemporary(status),
      () => false,
    )
  const open = (caughtUp: () => void) => httpOutputWay({ clock, caughtUp, post })
  const outputs = gatheredOutput({ clock, worker, open })

  const heartbeat = async (pulse: Pulse): Promise<HeartbeatAnswer | undefined> => {
    const headers = registered.headers()
    try {
      const sent = { timeoutMs: HEARTBEAT_MS, headers }
      const { status, body } = await put(`${own}/heartbeat`, heartbeatToJson(pulse), sent)
      if (isTaken(status)) return heartbeatAnswerFromJson(JSON.parse(body.toString()))
      if (status === UNKNOWN) registered.renew()
      if (status === DISPLACED) registered.displaced(headers)
    } catch (error) {
      if (!(error instanceof FaultError || error instanceof SyntaxError) && !closing.signal.aborted) throw error
    }
    return undefined
  }

  return {
    open: (listener) => registered.open(listener),
    again: () => registered.renew(),
    started: (attemptId) => void send(`${taskPath(attemptId)}/status`, { state: 'running' }, STARTED_TRIES),
    async report(attemptId, news) {
      outputs.ended(attemptId, 'result' in news && news.result !== undefined)
      registered.freed(attemptId)
      const status = await report(attemptId, news)
      return isTaken(status === TOO_LARGE ? await report(attemptId, UNSENDABLE) : status) ? 'taken' : 'dropped'
    },
    output: (attemptId, stream, bytes) => outputs.print(attemptId, stream, bytes),
    stageResults: (attemptId) => httpStageResults({ caller, path: `${taskPath(attemptId)}/stage` }),
    heartbeat(pulse) {
      if (pulse.state === 'draining') registered.quiet()
      return heartbeat(pulse)
    },
    async unregister() {
      registered.leave()
      await caller.call({ method: 'DELETE', path: own, timeoutMs: GOODBYE_MS }).catch(() => {})
    },
    close() {
      outputs.close()
      closing.abort()
    },
  }
}

const UNSENDABLE: AttemptState = {
  kind: 'fault',
  what: 'its result exceeds the size of a message that the server accepts',
  hopeless: true,
}

const UNKNOWN = 404
const DISPLACED = 409
const TOO_LARGE = 413
