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
  readonly desk: SnippetService
  readonly clock: Clock
  readonly wish: OutputTextOptions
  /** Where the reader was when its connection was lost. */
  readonly lastEventId: string | undefined
  /** Aborted when the server stops: the reader will come back. */
  readonly ending: AbortSignal
  /** Ends the connection of a reader that does not read. */
  readonly cut: () => void
}

const HEARTBEAT_MS = 15_000
/** For how long a reader may leave what was sent to it unread. */
const STALL_MS = 60_000

/**
 * Server-sent events of one task: `state` at each change, `output` as it is printed, and in the end `end` with the whole
 * task. Each carries an id from which a reader that lost its connection goes on; what the grid did not keep until then is
 * counted as missed, and is in the result at the end.
 */
export function taskEvents(id: string, options: EventsOptions): ReadableStream<Uint8Array> {
  const stopping = new AbortController()
  const events = eventsOf(id, options, stopping.signal)
  const encoder = new TextEncoder()
  let stopWaiting = (): void => {}
  const stop = (): void => {
    stopWaiting()
    stopping.abort() // wakes it where it waits for news; where it waits to be read, this ends it:
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
  const { scope, desk, clock, wish, lastEventId, ending } = options
  const bell = doorbell(clock, [ending, stopped])
  const tell = outputViews(positionIn(lastEventId), wish.encoding)
  let place = positionIn(lastEventId)
  let latest: SnippetStatus | undefined
  let failed: Error | undefined
  let told = ''
  const unwatch = desk.watch(scope, id, {
    told(status) {
      latest = status
      bell.ring()
    },
    failed(error) {
      failed = error
      bell.ring()
    },
  })
  const output = desk.listenOutput(scope, id, bell.ring)
  try {
    yield 'retry: 1000\n\n'
    while (!ending.aborted && !stopped.aborted && failed === undefined) {
      const now = latest
      if (now !== undefined) {
        const news = `${now.state} ${now.attempt} ${now.worker ?? ''}`
        if (news !== told && !isOver(now))
          yield eventText('state', positionText(place), await taskAnswer(now, undefined))
        told = news
        for (const printed of newOutput(output, tell)) {
          const { place: after, ...words } = printed
          place = after
          yield eventText('output', positionText(place), words)
        }
        if (isOver(now)) return void (yield eventText('end', positionText(place), await taskAnswer(now, wish)))
      }
      if (!(await bell.rung())) yield ': still here\n\n'
    }
  } finally {
    unwatch()
    output?.close()
    bell.stop()
  }
}

function* newOutput(
  output: OutputListener | undefined,
  tell: (piece: OutputPiece) => OutputView | undefined,
): Generator<OutputView> {
  for (let piece = output?.next(); piece !== undefined; piece = output?.next()) {
    const printed = tell(piece)
    if (printed !== undefined) yield printed
  }
}

const eventText = (event: string, id: string, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Resolves with true when it was rung since it was last asked, and with false when it was quiet for a heartbeat. */
function doorbell(clock: Clock, signals: readonly AbortSignal[]) {
  let isRung = false
  let wake: ((rung: boolean) => void) | undefined
  const ring = (): void => {
    isRung = true
    wake?.(true)
  }
  for (const signal of signals) signal.addEventListener('abort', ring)
  return {
    ring,
    async rung(): Promise<boolean> {
      if (!isRung) {
        await new Promise<boolean>((resolve) => {
          const takeBack = clock.after(HEARTBEAT_MS, () => wake?.(false))
          wake = (rung) => {
            takeBack()
            resolve(rung)
          }
        })
        wake = undefined
      }
      const was = isRung
      isRung = false
      return was
    },
    stop(): void {
      for (const signal of signals) signal.removeEventListener('abort', ring)
    },
  }
}
