import type { Clock } from '../../../base/clock.ts'
import type { WorkflowRunStatus } from '../../../services/workflows/driver/workflow-run.ts'
import type { NumberedEvent, RunEventListener } from '../../../services/workflows/run-events.ts'
import { statusJson, stepJson } from './response.ts'

export interface EventStreamOptions {
  /** Undefined for an ended run: then the status is the only event. */
  readonly listen: (wake: () => void) => RunEventListener | undefined
  readonly status: () => Promise<WorkflowRunStatus | undefined>
  /** The steps that are reported; the status of the run is reported in any case. */
  readonly steps: 'all' | 'failed'
  readonly clock: Clock
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal
}

/** Proxies close a connection that is silent for a minute. */
const SILENCE_MS = 15_000
/** Events of one interval are sent together, which costs both sides little. */
const GATHER_MS = 20
/** The most characters in one piece. */
const AT_ONCE_CHARS = 64 * 1024

/**
 * Server-sent events of one workflow run: `status` first and last, `step` for each change. A slow reader gets fewer
 * events, and delays no other reader.
 */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const { clock, signal } = options
  let wake = (): void => {}
  const listener = options.listen(() => wake())
  const steps = eventsOf(listener, options)
  const close = (): void => {
    listener?.close()
    wake()
  }
  signal.addEventListener('abort', close, { once: true })
  let sentAt = clock.monotonic()
  const send = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void => {
    sentAt = clock.monotonic()
    controller.enqueue(Buffer.from(text))
  }
  /** Resolves with true at the next change, and with false when a heartbeat is due. */
  const changed = (): Promise<boolean> =>
    new Promise((resolve) => {
      const leftMs = sentAt + SILENCE_MS - clock.monotonic()
      if (leftMs <= 0) return resolve(false)
      const cancelTimer = clock.after(leftMs, () => resolve(false))
      wake = () => {
        cancelTimer()
        resolve(true)
      }
    })
  /** Waits for more events of the same interval; resolves at once after the last event. */
  const gathered = (): Promise<void> =>
    new Promise((resolve) => {
      const isLast = (): boolean => signal.aborted || listener === undefined || listener.isComplete()
      if (isLast()) return resolve()
      const cancelTimer = clock.after(GATHER_MS, resolve)
      wake = () => {
        if (!isLast()) return
        cancelTimer()
        resolve()
      }
    })
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        if (signal.aborted) return controller.close()
        const text = await steps()
        if (text === undefined) {
          close()
          return controller.close()
        }
        if (text !== '') return send(controller, text)
        if (!(await changed())) return send(controller, ':\n\n')
        await gathered()
      }
    },
    cancel: close,
  })
}

/** The text of the next events; '' when there are none yet, undefined after the last. */
function eventsOf(listener: RunEventListener | undefined, { status, steps }: EventStreamOptions) {
  let isOver = false
  const statusText = async (): Promise<string | undefined> => {
    const now = await status()
    return now && textOf('status', statusJson(now))
  }
  return async (): Promise<string | undefined> => {
    if (isOver) return undefined
    let text = ''
    for (let next = listener?.next(); next !== undefined; next = listener?.next()) {
      if (next === 'behind') return text + ((await statusText()) ?? '')
      if (isReported(next, steps)) text += eventText(next)
      if (text.length > AT_ONCE_CHARS) return text
    }
    if (text !== '' || (listener !== undefined && !listener.isEnded())) return text
    isOver = true
    return statusText()
  }
}

const isReported = ({ event }: NumberedEvent, steps: EventStreamOptions['steps']): boolean =>
  steps === 'all' || event.kind !== 'step' || event.step.state === 'failed'

function eventText({ id, event, counts }: NumberedEvent): string {
  if (event.kind === 'submission') return textOf('submission', { state: event.state.toUpperCase(), counts }, id)
  return textOf('step', { ...stepJson(event.step), counts }, id)
}

const textOf = (name: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
