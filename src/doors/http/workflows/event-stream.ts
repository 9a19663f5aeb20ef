import type { Clock } from '../../../base/clock.ts'
import type { WorkflowRunStatus } from '../../../services/workflows/driver/workflow-run.ts'
import type { NumberedEvent, RunEventListener } from '../../../services/workflows/run-events.ts'
import { statusJson, stepJson } from './response.ts'

export interface EventStreamOptions {
  /** Undefined for a submission that is over: how it stands is all that there is to say. */
  readonly listen: (wake: () => void) => RunEventListener | undefined
  readonly status: () => Promise<WorkflowRunStatus | undefined>
  /** Which steps are told of; how the whole stands is told in any case. */
  readonly steps: 'all' | 'failed'
  readonly clock: Clock
  /** The caller has gone, or the server is stopping. */
  readonly signal: AbortSignal
}

/** Proxies close what is silent for a minute. */
const SILENCE_MS = 15_000
/** Events of one interval are sent together, which costs both sides little. */
const GATHER_MS = 20
/** Told in one go, when there is so much to tell. */
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
  let saidAt = clock.monotonic()
  const say = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void => {
    saidAt = clock.monotonic()
    controller.enqueue(Buffer.from(text))
  }
  /** False when it is time to say something, whatever happens: much of it may be of no interest. */
  const moved = (): Promise<boolean> =>
    new Promise((resolve) => {
      const leftMs = saidAt + SILENCE_MS - clock.monotonic()
      if (leftMs <= 0) return resolve(false)
      const takeBack = clock.after(leftMs, () => resolve(false))
      wake = () => {
        takeBack()
        resolve(true)
      }
    })
  /** Resolves at once when there is nothing left to gather. */
  const gathered = (): Promise<void> =>
    new Promise((resolve) => {
      const isLast = (): boolean => signal.aborted || listener === undefined || listener.isComplete()
      if (isLast()) return resolve()
      const takeBack = clock.after(GATHER_MS, resolve)
      wake = () => {
        if (!isLast()) return
        takeBack()
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
        if (text !== '') return say(controller, text)
        if (!(await moved())) return say(controller, ':\n\n')
        await gathered()
      }
    },
    cancel: close,
  })
}

/** The next thing to say; '' when there is nothing yet, undefined after the last. */
function eventsOf(listener: RunEventListener | undefined, { status, steps }: EventStreamOptions) {
  let isOver = false
  const standing = async (): Promise<string | undefined> => {
    const now = await status()
    return now && textOf('status', statusJson(now))
  }
  return async (): Promise<string | undefined> => {
    if (isOver) return undefined
    let text = ''
    for (let next = listener?.next(); next !== undefined; next = listener?.next()) {
      if (next === 'behind') return text + ((await standing()) ?? '')
      if (isWanted(next, steps)) text += eventText(next)
      if (text.length > AT_ONCE_CHARS) return text
    }
    if (text !== '' || (listener !== undefined && !listener.isEnded())) return text
    isOver = true
    return standing()
  }
}

const isWanted = ({ event }: NumberedEvent, steps: EventStreamOptions['steps']): boolean =>
  steps === 'all' || event.kind !== 'step' || event.step.state === 'failed'

function eventText({ id, event, counts }: NumberedEvent): string {
  if (event.kind === 'submission') return textOf('submission', { state: event.state.toUpperCase(), counts }, id)
  return textOf('step', { ...stepJson(event.step), counts }, id)
}

const textOf = (name: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
