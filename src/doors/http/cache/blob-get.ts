import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Digest } from '../../../base/digest.ts'
import { FaultError } from '../../../base/fault.ts'
import type { BlobReader, BlobStore } from '../../../storage/blob-store.ts'
import { outgoingPieces } from '../server/outgoing-pieces.ts'
import type { CacheTools } from './cache-tools.ts'
import { acceptsZstd, type ByteRange, byteRangeIn, cacheNameIn, ownTurn } from './request.ts'

/** A response up to this size is sent in one piece: a stream costs more than the bytes. */
const WHOLE_BYTES = 64 * 1024

/** GET and HEAD of /cas/<hash>. */
export async function getBlob(c: Context, tools: CacheTools): Promise<Response> {
  const name = cacheNameIn(c, tools.instances)
  await ownTurn(c)
  const { blobs } = name.instance
  const digest = await blobs.find(name.fn, name.hash)
  const response = digest && (await sendBlob(c, { blobs, digest }, tools))
  if (response === undefined) throw new FaultError({ kind: 'absent', what: `no blob ${name.hash}` })
  return response
}

interface NamedBlob {
  readonly blobs: BlobStore
  readonly digest: Digest
}

/** Returns undefined when the store has evicted the blob since it was found. */
export async function sendBlob(
  c: Context,
  { blobs, digest }: NamedBlob,
  tools: CacheTools,
): Promise<Response | undefined> {
  const headers = headersOf(digest)
  if (c.req.method === 'HEAD') return c.body(null, 200, { ...headers, 'content-length': String(digest.size) })

  const range = requestedRange(c, digest)
  if (range === 'beyond') return beyond(c, digest)
  const wanted = range === undefined ? { offset: 0 } : { offset: range.first, limit: range.last - range.first + 1 }
  const acceptZstd = range === undefined && acceptsZstd(c.req.header('accept-encoding'))
  const reader = await blobs.read(digest, { ...wanted, acceptZstd }, c.req.raw.signal)
  if (reader === undefined) return undefined
  // The length of stored zstd is unknown: that response ends with its last chunk.
  if (reader.form === 'zstd') return c.body(streamed(c, reader, tools), 200, { ...headers, 'content-encoding': 'zstd' })
  const length = range === undefined ? digest.size : range.last - range.first + 1
  const body = length <= WHOLE_BYTES ? await gathered(reader) : streamed(c, reader, tools)
  return c.body(body, range === undefined ? 200 : 206, {
    ...headers,
    ...rangeHeader(range, digest),
    'content-length': String(length),
  })
}

/** The hash is a strong validator: the bytes that it names never change. */
const headersOf = ({ hash }: Digest) => ({
  'content-type': 'application/octet-stream',
  'accept-ranges': 'bytes',
  etag: `"${hash}"`,
  vary: 'Accept-Encoding',
})

/** An If-Range with another validator means a range of other content: the whole blob is sent. */
function requestedRange(c: Context, { hash, size }: Digest): ByteRange | 'beyond' | undefined {
  const condition = c.req.header('if-range')
  if (condition !== undefined && condition !== `"${hash}"`) return undefined
  return byteRangeIn(c.req.header('range'), size)
}

const beyond = (c: Context, { size }: Digest): Response =>
  c.text(`The blob has only ${size} bytes\n`, 416, { 'content-range': `bytes */${size}` })

const rangeHeader = (range: ByteRange | undefined, { size }: Digest): Record<string, string> =>
  range === undefined ? {} : { 'content-range': `bytes ${range.first}-${range.last}/${size}` }

async function gathered({ pieces }: BlobReader): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(Uint8Array.from(piece))
  return Buffer.concat(parts)
}

function streamed(c: Context, { pieces }: BlobReader, { clock, log }: CacheTools): ReadableStream<Uint8Array> {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  return outgoingPieces(pieces, {
    clock,
    cut(why) {
      log.warn({ path: c.req.path, err: why }, 'http cache response aborted')
      outgoing?.destroy()
    },
  })
}
