import { HTTPException } from 'hono/http-exception'
import type { Clock } from '../../../base/clock.ts'

/** A peer that is silent for this long is disconnected, because it holds memory and a connection. */
export const STALL_MS = 120_000

/** The body of a request as it arrives, no faster than it is read. A body that stalls ends with a 408. */
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
    reader.releaseLock() // not cancelled: that would close the connection before the response
  }
}

async function soon<T>(read: Promise<T>, clock: Clock): Promise<T> {
  const stalled = Promise.withResolvers<never>()
  const message = `No data arrived for ${STALL_MS / 1000} seconds`
  const takeBack = clock.after(STALL_MS, () => stalled.reject(new HTTPException(408, { message })))
  try {
    return await Promise.race([read, stalled.promise])
  } finally {
    takeBack()
    read.catch(() => {}) // its outcome is ignored
  }
}

/** The same pieces; the first has at least the requested length, if the body is long enough. */
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
