import type { Clock } from '../../../base/clock.ts'
import { STALL_MS } from './body-pieces.ts'

export interface BodyOutlet {
  readonly clock: Clock
  /** Ends the connection: an answer that has begun has no other way to say that it is not whole. */
  cut(why: unknown): void
}

/** A blob as the body of an answer: a piece is read when the one before has been taken. A peer that takes none is cut. */
export function outgoingPieces(
  pieces: AsyncIterable<Uint8Array>,
  { clock, cut }: BodyOutlet,
): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]()
  let stopWaiting = (): void => {}
  const letGo = (): void => {
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
          controller.enqueue(Uint8Array.from(value)) // the store uses the piece again; the socket still holds it
          stopWaiting = clock.after(STALL_MS, () => {
            letGo()
            cut(new Error(`nothing was taken for ${STALL_MS / 1000} seconds`))
          })
        } catch (error) {
          letGo()
          cut(error)
          controller.close()
        }
      },
      cancel: letGo,
    },
    { highWaterMark: 0 },
  )
}
