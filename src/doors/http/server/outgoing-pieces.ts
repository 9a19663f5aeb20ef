import type { Clock } from '../../../base/clock.ts'
import { STALL_MS } from './body-pieces.ts'

export interface BodyOutlet {
  readonly clock: Clock
  /** Closes the connection: a response that has begun cannot report in another way that it is incomplete. */
  cut(why: unknown): void
}

/**
 * Streams a blob as the body of a response. The next piece is read when the client has read the previous one. A client
 * that does not read is disconnected.
 */
export function outgoingPieces(
  pieces: AsyncIterable<Uint8Array>,
  { clock, cut }: BodyOutlet,
): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]()
  let stopWaiting = (): void => {}
  const close = (): void => {
    stopWaiting()
    source.return?.().catch(() => {})
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        stopWaiting()
        try {
          const { done, value } = await source.next()
          if (done === true) return controller.close()
          controller.enqueue(Uint8Array.from(value)) // a copy: the store reuses the buffer
          stopWaiting = clock.after(STALL_MS, () => {
            close()
            cut(new Error(`the client read nothing for ${STALL_MS / 1000} seconds`))
          })
        } catch (error) {
          close()
          cut(error)
          controller.close()
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
