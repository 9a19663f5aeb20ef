import type { DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type StatusReport, statusFromProto } from '../google/status.ts'
import { PendingDigest } from '../hot/digest-reader.ts'
import { MessageReader } from '../messages/message-reader.ts'

/**
 * The key of a blob in a response: `formatDigest`, or the text that the server sent instead. All digests of a response
 * have the same function, so the key leaves it out.
 */
export type BlobKey = string

export const blobKeyAt = (list: DigestList, index: number): BlobKey => formatDigest(digestAt(list, index))

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

/** The part of a batch response for one blob. */
export interface BlobAnswer {
  readonly key: BlobKey
  readonly status: StatusReport
  /** A view into the response. */
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
    else if (reader.field === fields.status) status = statusIn(reader)
    else if (reader.field === fields.compressor) compressor = reader.int32()
    else reader.skip()
  }
  reader.leave(outer)
  return { key: keyIn(reader, digest), status, data, compressor }
}

function statusIn(reader: MessageReader): StatusReport {
  const bytes = reader.view()
  try {
    return statusFromProto(bytes)
  } catch {
    throw reader.malformed('a status cannot be read')
  }
}
