import { HTTPException } from 'hono/http-exception'
import type { Clock } from '../../../base/clock.ts'

/** A peer that is silent for so long holds memory and a connection for nothing. */
export const STALL_MS = 120_000

/** A request's body as it comes, no faster than it is taken; one that stalls is ended with a 408. */
export async function* bodyPieces({ body }: Request, clock: Clock): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await soon(reader.read(), clock)
      if (done) return
      yield value
    }
  } finally {
    reader.releaseLock() // and not cancelled: that would end the connection before it carried the answer
  }
}

async function soon<T>(read: Promise<T>, clock: Clock): Promise<T> {
  const stalled = Promise.withResolvers<never>()
  const message = `Nothing more came for ${STALL_MS / 1000} seconds`
  const takeBack = clock.after(STALL_MS, () => stalled.reject(new HTTPException(408, { message })))
  try {
    return await Promise.race([read, stalled.promise])
  } finally {
    takeBack()
    read.catch(() => {}) // its outcome is ignored
  }
}

/** The same pieces, the first of them as long as is wished, or as there is. */
export async function* withLongStart(
  pieces: AsyncIterable<Uint8Array>,
  startBytes: number,
): AsyncGenerator<Uint8Array> {
  const start: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    if (bytes >= startBytes) {
      yield piece
      continue
    }
    start.push(piece)
    bytes += piece.length
    if (bytes >= startBytes) yield Buffer.concat(start.splice(0))
  }
  if (start.length > 0) yield Buffer.concat(start)
}
