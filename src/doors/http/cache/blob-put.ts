import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { digestListOf } from '../../../base/digest-list.ts'
import { parseSize } from '../../../base/digest-text.ts'
import { invalid } from '../../../base/fault.ts'
import type { BlobWriter, StoredForm } from '../../../storage/blob-store.ts'
import { areHeld } from '../../../storage/read-blobs.ts'
import { bodyPieces, withLongStart } from '../server/body-pieces.ts'
import type { CacheTools } from './cache-tools.ts'
import { cacheNameIn, formOfBody } from './request.ts'
import { ZSTD_HEADER_BYTES, zstdContentSize } from './zstd-content-size.ts'

/** The size of the blob, when the length of the body is another; other caches use the same header. */
const SIZE_HEADER = 'x-digest-sizebytes'

/**
 * PUT of /cas/<hash>. The bytes are written to the store as they arrive; the blob becomes readable when its hash has
 * been verified.
 */
export async function putBlob(c: Context, { instances, clock, maxBlobBytes }: CacheTools): Promise<Response> {
  const { instance, fn, hash } = cacheNameIn(c, instances)
  const form = formOfBody(c, true)
  const pieces = withLongStart(bodyPieces(c.req.raw, clock), ZSTD_HEADER_BYTES)
  const first = (await pieces.next()).value ?? new Uint8Array(0)
  const size = sizeOf(c, form, first)
  if (size > maxBlobBytes) {
    throw new HTTPException(413, { message: `A blob of ${size} bytes is larger than the limit of ${maxBlobBytes}` })
  }
  const digest = { fn, hash, size }
  if (await areHeld(digestListOf(fn, [digest]), instance.blobs)) await drain(pieces)
  else await take(first, pieces, instance.uploads.write(digest, form))
  return c.body(null, 200)
}

function sizeOf(c: Context, form: StoredForm, first: Uint8Array): number {
  const stated = sizeIn(c, SIZE_HEADER)
  const length = form === 'identity' ? sizeIn(c, 'content-length') : undefined
  if (stated !== undefined && length !== undefined && stated !== length) {
    throw invalid(`X-Digest-SizeBytes says ${stated} bytes and Content-Length ${length}`)
  }
  const size = stated ?? length ?? (form === 'zstd' ? zstdContentSize(first) : undefined)
  if (size !== undefined) return size
  const message =
    form === 'zstd'
      ? 'The size of the blob is not known: send it in X-Digest-SizeBytes, or compress the blob as one frame that states its size'
      : 'The size of the blob is not known: send Content-Length or X-Digest-SizeBytes'
  throw new HTTPException(411, { message })
}

function sizeIn(c: Context, header: string): number | undefined {
  const text = c.req.header(header)
  if (text === undefined) return undefined
  const size = parseSize(text)
  if (size === undefined) throw invalid(`${JSON.stringify(text.slice(0, 100))} is not the size of a blob`)
  return size
}

async function take(first: Uint8Array, rest: AsyncIterable<Uint8Array>, writer: BlobWriter): Promise<void> {
  try {
    await writer.write(first)
    for await (const piece of rest) await writer.write(piece)
    await writer.commit()
  } finally {
    writer.abort()
  }
}

/**
 * Reads and drops the body of a blob that the store has: the client sends it to the end before it reads the response.
 */
async function drain(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}
