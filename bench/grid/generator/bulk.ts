/**
 * Concurrent load, in a separate process: one client transfers large blobs up and down uncompressed, another one as
 * zstd, and a third lists all tasks, page by page, again and again.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { zstdCompressSync } from 'node:zlib'
import type { Digest } from '../../../src/base/digest.ts'
import type { Channel } from '../../../src/grpc/client/channel.ts'
import type { Compressor } from '../../../src/model/compressor.ts'
import { MessageReader } from '../../../src/wire/messages/message-reader.ts'
import { readToProto, writeToProto } from '../../../src/wire/reapi/cas-calls.ts'
import { formatReadName, formatWriteName } from '../../../src/wire/reapi/resource-name.ts'
import { answerWith } from '../../child.ts'
import { channelTo } from './grid-client.ts'
import { listOperationsRequest } from './messages.ts'

export type BulkQuestion =
  | { readonly ask: 'prepare'; readonly port: number; readonly bytes: number }
  | { readonly ask: 'begin' }
  | { readonly ask: 'end' }

export interface BulkAnswer {
  readonly upBytes: number
  readonly downBytes: number
  readonly pages: number
}

const BLOBS = 12
const PIECE_BYTES = 1 << 20
const PAGE_SIZE = 100
const BYTE_STREAM = '/google.bytestream.ByteStream'

interface Blob {
  readonly digest: Digest
  readonly pieces: readonly Uint8Array[]
}

/**
 * Half of the bytes are random, so that the blobs compress to about half. All blobs have the same bytes but the first
 * piece.
 */
function blobsOf(bytes: number, compressor: Compressor): Blob[] {
  const piece = Buffer.concat([randomBytes(PIECE_BYTES / 2), Buffer.alloc(PIECE_BYTES / 2, 'windlass ')])
  const rest = Array.from({ length: Math.max(1, bytes / PIECE_BYTES - 1) }, () => piece)
  // Each piece is a separate zstd frame, so it can be compressed once for all blobs.
  const pack = (part: Uint8Array): Uint8Array => (compressor === 'zstd' ? zstdCompressSync(part) : part)
  const packedPiece = pack(piece)
  return Array.from({ length: BLOBS }, () => {
    const first = randomBytes(PIECE_BYTES)
    const hash = createHash('sha256').update(first)
    for (const part of rest) hash.update(part)
    const size = first.length * (rest.length + 1)
    return {
      digest: { fn: 'sha256', hash: hash.digest('hex'), size },
      pieces: [pack(first), ...rest.map(() => packedPiece)],
    }
  })
}

const counts = { up: 0, down: 0, pages: 0 }
let isOn = false
let work: Promise<unknown> = Promise.resolve()
let channels: Channel[] = []
let prepared: { blobs: Blob[]; compressor: Compressor }[] = []

async function upload(channel: Channel, { digest, pieces }: Blob, compressor: Compressor): Promise<void> {
  const call = channel.open(`${BYTE_STREAM}/Write`)
  const answer = call.next()
  let offset = 0
  for (const [i, data] of pieces.entries()) {
    const resourceName = i === 0 ? formatWriteName({ instance: '', uploadId: randomUUID(), digest, compressor }) : ''
    if (!call.write(writeToProto({ resourceName, offset, isLast: i === pieces.length - 1, data }))) await call.drained()
    offset += data.length
    counts.up += digest.size / pieces.length
  }
  call.finish()
  await answer
  await call.trailers
}

async function download(channel: Channel, { digest }: Blob, compressor: Compressor): Promise<void> {
  const name = readToProto(formatReadName({ instance: '', digest, compressor }))
  for await (const _ of channel.serverStreaming(`${BYTE_STREAM}/Read`, name)) if (!isOn) return
  counts.down += digest.size
}

async function stream({ blobs, compressor }: { blobs: Blob[]; compressor: Compressor }, channel: Channel) {
  for (let i = 0; isOn; i++) {
    const blob = blobs[i % blobs.length] as Blob
    if (i < blobs.length) await upload(channel, blob, compressor)
    await download(channel, blob, compressor)
  }
}

/** Returns the page token of a ListOperationsResponse: empty at the end of the list. */
function nextPageOf(message: Uint8Array): string {
  const reader = new MessageReader(message, 'ListOperationsResponse')
  let token = ''
  while (reader.next()) {
    if (reader.field === 2) token = Buffer.from(reader.view()).toString()
    else reader.skip()
  }
  return token
}

async function page(channel: Channel): Promise<void> {
  let pageToken = ''
  while (isOn) {
    const request = listOperationsRequest(PAGE_SIZE, pageToken)
    const { message } = await channel.unary('/google.longrunning.Operations/ListOperations', request)
    pageToken = nextPageOf(message)
    counts.pages++
    await sleep(1)
  }
}

answerWith(async (question: BulkQuestion): Promise<BulkAnswer | undefined> => {
  switch (question.ask) {
    case 'prepare':
      channels = [1, 2, 3].map(() => channelTo(question.port))
      prepared = (['identity', 'zstd'] as const).map((compressor) => ({
        compressor,
        blobs: blobsOf(question.bytes, compressor),
      }))
      return undefined
    case 'begin': {
      isOn = true
      const [one, two, three] = channels as [Channel, Channel, Channel]
      const [plain, packed] = prepared as [(typeof prepared)[0], (typeof prepared)[0]]
      work = Promise.all([stream(plain, one), stream(packed, two), page(three)])
      work.catch(() => {})
      return undefined
    }
    case 'end':
      isOn = false
      await work
      for (const channel of channels) channel.close()
      return { upBytes: counts.up, downBytes: counts.down, pages: counts.pages }
  }
})
