import { DIGEST_FUNCTIONS, type DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { PendingDigest } from '../../wire/hot/digest-reader.ts'
import { digestLength, putDigest } from '../../wire/hot/digest-writer.ts'
import { MessageReader } from '../../wire/hot/message-reader.ts'
import { fieldLength, putField, putHead } from '../../wire/hot/message-writer.ts'
import { type StatusReport, statusFromProto } from '../../wire/status.ts'

/** The batch calls of ContentAddressableStorage as their caller spells them; `wire/hot` has the other end. */
const INSTANCE = 0x0a
const DIGESTS = 0x12
const REQUESTS = 0x12
const DIGEST = 0x0a
const DATA = 0x12
const FIND_FUNCTION = 0x18
const READ_FUNCTION = 0x20
const UPDATE_FUNCTION = 0x28

export const findMissingRequest = (instance: string, digests: DigestList): Uint8Array =>
  digestsRequest(instance, digests, FIND_FUNCTION)

export const batchReadRequest = (instance: string, digests: DigestList): Uint8Array =>
  digestsRequest(instance, digests, READ_FUNCTION)

function digestsRequest(instance: string, digests: DigestList, functionTag: number): Uint8Array {
  const name = Buffer.from(instance)
  let length = instanceLength(name) + 2
  for (let index = 0; index < digests.count; index++) length += fieldLength(digestLength(digests, index))
  const out = Buffer.allocUnsafe(length)
  let at = putInstance(out, name)
  for (let index = 0; index < digests.count; index++) {
    at = putHead(out, at, DIGESTS, digestLength(digests, index))
    at = putDigest(out, at, digests, index)
  }
  putFunction(out, at, { tag: functionTag, digests })
  return out
}

export function batchUpdateRequest(instance: string, digests: DigestList, blobs: readonly Uint8Array[]): Uint8Array {
  const name = Buffer.from(instance)
  const oneLength = (index: number): number =>
    fieldLength(digestLength(digests, index)) + fieldLength((blobs[index] as Uint8Array).length)
  let length = instanceLength(name) + 2
  for (let index = 0; index < digests.count; index++) length += fieldLength(oneLength(index))
  const out = Buffer.allocUnsafe(length)
  let at = putInstance(out, name)
  for (let index = 0; index < digests.count; index++) {
    at = putHead(out, at, REQUESTS, oneLength(index))
    at = putHead(out, at, DIGEST, digestLength(digests, index))
    at = putDigest(out, at, digests, index)
    at = putField(out, at, DATA, blobs[index] as Uint8Array)
  }
  putFunction(out, at, { tag: UPDATE_FUNCTION, digests })
  return out
}

const instanceLength = (name: Uint8Array): number => (name.length === 0 ? 0 : fieldLength(name.length))

const putInstance = (out: Uint8Array, name: Uint8Array): number =>
  name.length === 0 ? 0 : putField(out, 0, INSTANCE, name)

/** Always said: a server that need not hear it ignores it. */
function putFunction(out: Uint8Array, at: number, { tag, digests }: { tag: number; digests: DigestList }): void {
  out[at] = tag
  out[at + 1] = DIGEST_FUNCTIONS[digests.fn].number
}

/** What answers name blobs by. All of an answer are of one function, so that need not stand in it. */
export type BlobKey = string

export function blobKeyAt(list: DigestList, index: number): BlobKey {
  const { hash, size } = digestAt(list, index)
  return `${hash}/${size}`
}

function keyIn(reader: MessageReader, { hashAt, hashLength, size }: PendingDigest): BlobKey {
  const { buffer, byteOffset } = reader.bytes
  return `${Buffer.from(buffer, byteOffset + hashAt, hashLength).toString('latin1')}/${size}`
}

export function readFindMissingResponse(bytes: Uint8Array): Set<BlobKey> {
  const reader = new MessageReader(bytes, 'FindMissingBlobsResponse')
  const digest = new PendingDigest()
  const missing = new Set<BlobKey>()
  while (reader.next()) {
    if (reader.field === 2) missing.add(keyIn(reader, digest.clear().merge(reader)))
    else reader.skip()
  }
  return missing
}

/** What a batch says of one blob. */
export interface BlobAnswer {
  readonly key: BlobKey
  readonly status: StatusReport
  /** A view into the answer. */
  readonly data: Uint8Array
  /** 0 when the data is the blob itself. */
  readonly compressor: number
}

const NOTHING = new Uint8Array(0)
const OK: StatusReport = { code: 0, message: '', details: [] }

export const readBatchReadResponse = (bytes: Uint8Array): BlobAnswer[] =>
  readAnswers(new MessageReader(bytes, 'BatchReadBlobsResponse'), { data: 2, status: 3, compressor: 4 })

export const readBatchUpdateResponse = (bytes: Uint8Array): BlobAnswer[] =>
  readAnswers(new MessageReader(bytes, 'BatchUpdateBlobsResponse'), { data: -1, status: 2, compressor: -1 })

type Fields = Readonly<Record<'data' | 'status' | 'compressor', number>>

function readAnswers(reader: MessageReader, fields: Fields): BlobAnswer[] {
  const answers: BlobAnswer[] = []
  while (reader.next()) {
    if (reader.field === 1) answers.push(readAnswer(reader, fields))
    else reader.skip()
  }
  return answers
}

function readAnswer(reader: MessageReader, fields: Fields): BlobAnswer {
  const digest = new PendingDigest()
  let data: Uint8Array = NOTHING
  let status = OK
  let compressor = 0
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 1) digest.merge(reader)
    else if (reader.field === fields.data) data = reader.view()
    else if (reader.field === fields.status) status = statusFromProto(reader.view())
    else if (reader.field === fields.compressor) compressor = reader.int32()
    else reader.skip()
  }
  reader.leave(outer)
  return { key: keyIn(reader, digest), status, data, compressor }
}
