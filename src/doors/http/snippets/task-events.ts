import type { Clock } from '../../../base/clock.ts'
import type { OutputListener, OutputPiece } from '../../../engine/tasks/output-ring.ts'
import { isOver, type SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { OutputTextOptions } from '../../../services/snippets/output-text.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { type OutputView, outputViews, positionIn, positionText } from './output-place.ts'
import { taskAnswer } from './response.ts'

export interface EventsOptions {
  readonly scope: CallScope
  readonly service: SnippetService
  readonly clock: Clock
  readonly output: OutputTextOptions
  /** The id of the last event that the client received before its connection was lost. */
  readonly lastEventId: string | undefined
  /** Aborted when the server stops: clients reconnect. */
  readonly ending: AbortSignal
  /** Closes the connection of a client that does not read. */
  readonly cut: () => void
}

const HEARTBEAT_MS = 15_000
/** How long a client may leave sent events unread. */
const STALL_MS = 60_000

/**
 * Server-sent events of one task: `state` at each change, `output` as it is printed, and last `end` with the whole
 * task. Each has an id, from which a client that lost its connection continues. Output that the server dropped until
 * then is counted as missed; the result at the end contains it.
 */
export function taskEvents(id: string, options: EventsOptions): ReadableStream<Uint8Array> {
  const stopping = new AbortController()
  const events = eventsOf(id, options, stopping.signal)
  const encoder = new TextEncoder()
  let stopWaiting = (): void => {}
  const stop = (): void => {
    stopWaiting()
    stopping.abort() // ends a wait for the next change; `return` ends a wait for the reader
    events.return().catch(() => {})
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        stopWaiting()
        const { done, value } = await events.next()
        if (done === true) return controller.close()
        controller.enqueue(encoder.encode(value))
        stopWaiting = options.clock.after(STALL_MS, () => {
          stop()
          options.cut()
        })
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  )
}

async function* eventsOf(id: string, options: EventsOptions, stopped: AbortSignal): AsyncGenerator<string, void> {
  const { scope, service, clock, output: outputOptions, lastEventId, ending } = options
  const changes = changeSignal(clock, [ending, stopped])
  const viewOf = outputViews(positionIn(lastEventId), outputOptions.encoding)
  let place = positionIn(lastEventId)
  let latest: SnippetStatus | undefined
  let failed: Error | undefined
  let sent = ''
  const unwatch = service.watch(scope, id, {
    changed(status) {
      latest = status
      changes.notify()
    },
    failed(error) {
      failed = error
      changes.notify()
    },
  })
  const output = service.listenOutput(scope, id, changes.notify)
  try {
    yield 'retry: 1000\n\n'
    while (!ending.aborted && !stopped.aborted && failed === undefined) {
      const now = latest
      if (now !== undefined) {
        const summary = `${now.state} ${now.attempt} ${now.worker ?? ''}`
        if (summary !== sent && !isOver(now))
          yield eventText('state', positionText(place), await taskAnswer(now, undefined))
        sent = summary
        for (const printed of newOutput(output, viewOf)) {
          const { place: after, ...event } = printed
          place = after
          yield eventText('output', positionText(place), event)
        }
        if (isOver(now)) return void (yield eventText('end', positionText(place), await taskAnswer(now, outputOptions)))
      }
      if (!(await changes.next())) yield ': still here\n\n'
    }
  } finally {
    unwatch()
    output?.close()
    changes.close()
  }
}

function* newOutput(
  output: OutputListener | undefined,
  viewOf: (piece: OutputPiece) => OutputView | undefined,
): Generator<OutputView> {
  for (let piece = output?.next(); piece !== undefined; piece = output?.next()) {
    const printed = viewOf(piece)
    if (printed !== undefined) yield printed
  }
}

const eventText = (event: string, id: string, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** `next` resolves with true when there was a change since the last call, and with false after a heartbeat without one. */
function changeSignal(clock: Clock, signals: readonly AbortSignal[]) {
  let hasChanged = false
  let wake: (() => void) | undefined
  const notify = (): void => {
    hasChanged = true
    wake?.()
  }
  for (const signal of signals) signal.addEventListener('abort', notify)
  return {
    notify,
    async next(): Promise<boolean> {
      if (!hasChanged) {
        await new Promise<void>((resolve) => {
          const cancelTimer = clock.after(HEARTBEAT_MS, () => wake?.())
          wake = () => {
            cancelTimer()
            resolve()
          }
        })
        wake = undefined
      }
      const had = hasChanged
      hasChanged = false
      return had
    },
    close(): void {
      for (const signal of signals) signal.removeEventListener('abort', notify)
    },
  }
}
