/** The calls of ByteStream: one blob each, in pieces. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { zstdDecompressed } from '../../../src/base/zstd-whole.ts'
import { type Blob, compressed, makeBlob } from '../content.ts'
import { bytesIn, fieldsOf, messagesOf, numberIn } from '../fields.ts'
import { type Digest, grpcHead, readRequest, writeHead } from '../messages.ts'
import type { ReadPlan, WritePlan } from '../plan.ts'
import { type Call, sole, total, unary } from './call.ts'

const BYTE_STREAM = '/google.bytestream.ByteStream'

/** Bytes of data in one WriteRequest. */
const CHUNK_BYTES = 64 * 1024

/** The name of the set that such a plan reads. It is uploaded first. */
export const setToRead = ({ kind, size }: ReadPlan): string => `${kind} ${size}`

const resourceOf = (kind: string, { hash, size }: Digest): string =>
  `${kind.endsWith('zstd') ? 'compressed-blobs/zstd' : 'blobs'}/${hash}/${size}`

export function read(plan: ReadPlan, index: number): Call {
  const { digest } = makeBlob({ set: setToRead(plan), index }, plan.size)
  const isZstd = plan.kind === 'read-zstd'
  const request = unary(`${BYTE_STREAM}/Read`, readRequest(resourceOf(plan.kind, digest)), {
    contentBytes: plan.size,
    shape: isZstd ? digest.hash : undefined,
    verify(body) {
      const data = Buffer.concat(messagesOf(body).map((message) => bytesIn(fieldsOf(message), 10)))
      const content = isZstd ? zstdDecompressed(data, digest.size) : data
      assert.equal(content.length, digest.size, 'a stream has another length')
      assert.equal(hash('sha256', content), digest.hash, 'a stream has other bytes')
    },
  })
  // The server decides how it splits the data into messages, and may change this at any time.
  if (isZstd) return { ...request, payloadBytes: 'counted' }
  return { ...request, payloadBytes: plan.size, payloadHash: digest.hash }
}

export function write(kind: WritePlan['kind'], blob: Blob): Call {
  const isZstd = kind === 'write-zstd'
  const content = isZstd ? [compressed(blob)] : blob.pieces
  const bytes = total(content)
  const resource = `uploads/${uuidOf(blob.digest)}/${resourceOf(kind, blob.digest)}`
  const pieces = writeMessages(resource, content, bytes)
  return {
    path: `${BYTE_STREAM}/Write`,
    pieces,
    bytes: total(pieces),
    contentBytes: blob.digest.size,
    shape: undefined,
    payloadBytes: undefined,
    verify(body) {
      const committed = numberIn(fieldsOf(sole(body)), 1)
      // For compressed uploads servers differ: some report the received bytes, others the size of the blob.
      const right = committed === bytes || (isZstd && committed === blob.digest.size)
      assert.ok(right, `${committed} of ${bytes} bytes were committed`)
    },
  }
}

const uuidOf = ({ hash: text }: Digest): string =>
  `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20, 32)}`

/** Heads and views alternate; nothing is copied. */
function writeMessages(resource: string, content: readonly Buffer[], bytes: number): Buffer[] {
  const pieces: Buffer[] = []
  let piece = 0
  let at = 0
  for (let offset = 0; offset < bytes; offset += CHUNK_BYTES) {
    const dataBytes = Math.min(CHUNK_BYTES, bytes - offset)
    const isLast = offset + dataBytes === bytes
    const head = writeHead({ resource: offset === 0 ? resource : undefined, offset, isLast, dataBytes })
    pieces.push(Buffer.concat([grpcHead(head.length + dataBytes), head]))
    for (let left = dataBytes; left > 0; ) {
      const from = content[piece] as Buffer
      const view = from.subarray(at, at + left)
      pieces.push(view)
      left -= view.length
      at += view.length
      if (at === from.length) {
        piece++
        at = 0
      }
    }
  }
  return pieces
}
