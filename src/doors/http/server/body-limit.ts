import type { Context } from 'hono'
import type { HttpError } from './http-error.ts'

/** Thrown to the reader of a chunked body above its limit: such a body does not declare its length beforehand. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

export const bodyTooLarge = (maxBytes: number | undefined): HttpError => ({
  kind: 'invalid',
  status: 413,
  message: maxBytes === undefined ? 'The body is too large' : `The body is larger than ${maxBytes} bytes`,
  headers: { connection: 'close' },
})

/** Counts the bytes of a chunked body while its route reads them. */
export function limitChunks(c: Context, maxBytes: number): void {
  let seen = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength
      if (seen > maxBytes) controller.error(new BodyTooLarge(`more than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
  const body = c.req.raw.body?.pipeThrough(limit) ?? null
  c.req.raw = new Request(c.req.raw, { body, duplex: 'half' })
}
