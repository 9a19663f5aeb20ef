/** The unary methods, reduced to the necessary work: find digests in the bytes, hash, read, append, answer. */
import { hash } from 'node:crypto'
import { readSync, writeSync, writevSync } from 'node:fs'
import { SMALL_BYTES } from '../plan.ts'
import { type Answer, GRPC_HEAD_BYTES, type StartWork } from './bare-connection.ts'
import { borrow, giveBack } from './buffer-pool.ts'
import type { DigestTable } from './digest-table.ts'

/** One file to which everything is appended, and the positions in it. */
export interface Pack {
  readonly fd: number
  readonly blobs: DigestTable
  readonly zstd: DigestTable
  readonly results: DigestTable
  end: number
}

/** The hex digits of a digest. */
const HEX_BYTES = 64
/** Bytes of an answer per blob, besides its digest and data. */
const ENTRY_BYTES = 16

/** Reads the request in place, or collects it when it arrives in several parts. */
const unary =
  (pack: Pack, work: (request: Buffer, pack: Pack, answer: Answer) => void): StartWork =>
  (answer) => {
    let only: Buffer | undefined
    let gathered: Buffer | undefined
    let length = 0
    const gather = (bytes: Buffer): void => {
      if (gathered === undefined || length + bytes.length > gathered.length) {
        const larger = borrow(Math.max(1 << 20, 2 * (length + bytes.length)))
        gathered?.copy(larger, 0, 0, length)
        if (gathered !== undefined) giveBack(gathered)
        gathered = larger
      }
      length += bytes.copy(gathered, length)
    }
    return {
      data(bytes) {
        if (only === undefined && gathered === undefined) {
          only = bytes
          return
        }
        if (only !== undefined) gather(only)
        only = undefined
        gather(bytes)
      },
      end() {
        if (only !== undefined) return work(only, pack, answer)
        if (gathered === undefined) return
        work(gathered.subarray(0, length), pack, answer)
        giveBack(gathered)
      },
    }
  }

let at = 0
function varint(bytes: Buffer): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++] as number
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
  }
}

function findMissing(request: Buffer, { blobs }: Pack, answer: Answer): void {
  const missing = borrow(request.length)
  let length = GRPC_HEAD_BYTES
  for (at = GRPC_HEAD_BYTES; at < request.length; ) {
    const from = at++
    const end = varint(request) + at
    if (blobs.find(request, at + 2) < 0) length += request.copy(missing, length, from, end)
    at = end
  }
  answer.unary(missing, length)
}

function batchUpdate(request: Buffer, pack: Pack, answer: Answer): void {
  const contents: Buffer[] = []
  const response = borrow(request.length)
  let length = GRPC_HEAD_BYTES
  let end = pack.end
  for (at = GRPC_HEAD_BYTES; at < request.length; ) {
    at++
    varint(request)
    const from = at
    at++
    const digestEnd = varint(request) + at
    const hexAt = at + 2
    at = digestEnd + 1
    const size = varint(request)
    const content = request.subarray(at, at + size)
    at += size
    if (hash('sha256', content) !== request.toString('latin1', hexAt, hexAt + HEX_BYTES))
      throw new Error('not what it says')
    contents.push(content)
    pack.blobs.put({ bytes: request, at: hexAt }, end, size)
    end += size
    response[length++] = 0x0a
    response[length++] = digestEnd - from
    length += request.copy(response, length, from, digestEnd)
  }
  writevSync(pack.fd, contents, pack.end)
  pack.end = end
  answer.unary(response, length)
}

function putVarint(target: Buffer, from: number, value: number): number {
  let to = from
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) target[to++] = 0x80 | (rest & 0x7f)
  target[to++] = rest
  return to
}

function batchRead(request: Buffer, { fd, blobs }: Pack, answer: Answer): void {
  const response = borrow(request.length + (request.length / HEX_BYTES) * (SMALL_BYTES + ENTRY_BYTES))
  let length = GRPC_HEAD_BYTES
  for (at = GRPC_HEAD_BYTES; at < request.length; ) {
    at++
    const digestBytes = varint(request)
    const slot = blobs.find(request, at + 2)
    const size = blobs.size(slot)
    response[length++] = 0x0a
    length = putVarint(response, length, digestBytes + size + (size > 0x3fff ? 6 : 5))
    response[length++] = 0x0a
    response[length++] = digestBytes
    length += request.copy(response, length, at, at + digestBytes)
    response[length++] = 0x12
    length = putVarint(response, length, size)
    length += readSync(fd, response, length, size, blobs.offset(slot))
    at += digestBytes
  }
  answer.unary(response, length)
}

/** Reads the result from the file, and looks up each output in it. */
function actionResult(request: Buffer, { fd, blobs, results }: Pack, answer: Answer): void {
  const slot = results.find(request, GRPC_HEAD_BYTES + 4)
  const size = results.size(slot)
  const result = borrow(GRPC_HEAD_BYTES + size)
  const end = GRPC_HEAD_BYTES + size
  readSync(fd, result, GRPC_HEAD_BYTES, size, results.offset(slot))
  for (at = GRPC_HEAD_BYTES; at < end; ) {
    const tag = result[at++]
    const next = varint(result) + at
    if (tag === 0x12) {
      at++
      const path = varint(result)
      if (blobs.find(result, at + path + 4) < 0) throw new Error('an output is missing')
    }
    at = next
  }
  answer.unary(result, end)
}

function updateAction(request: Buffer, pack: Pack, answer: Answer): void {
  at = GRPC_HEAD_BYTES + 1
  const digestEnd = varint(request) + at
  const hexAt = at + 2
  at = digestEnd + 1
  const size = varint(request)
  const result = request.subarray(at, at + size)
  pack.results.put({ bytes: request, at: hexAt }, pack.end, size)
  pack.end += writeSync(pack.fd, result, 0, size, pack.end)
  const response = borrow(GRPC_HEAD_BYTES + size)
  answer.unary(response, GRPC_HEAD_BYTES + result.copy(response, GRPC_HEAD_BYTES))
}

export const unaryWorks = (pack: Pack) => ({
  'find-missing': unary(pack, findMissing),
  'batch-update': unary(pack, batchUpdate),
  'batch-read': unary(pack, batchRead),
  'action-result': unary(pack, actionResult),
  'update-action': unary(pack, updateAction),
})
