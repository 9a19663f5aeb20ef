import type { Digest } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField } from '../messages/message-writer.ts'
import { PendingDigest } from './digest-reader.ts'

/** GetTree returns Directory messages byte for byte as they are in the CAS, so that their digests stay valid. */
export interface GetTreeRequest {
  readonly instance: string
  readonly rootDigest: Digest
  /** 0: the server chooses. */
  readonly pageSize: number
  readonly pageToken: string
}

export function readGetTreeRequest(bytes: Uint8Array, unnamed: UnnamedFunction = sha256Unnamed): GetTreeRequest {
  const reader = new MessageReader(bytes, 'GetTreeRequest')
  const digest = new PendingDigest()
  let instance = ''
  let pageSize = 0
  let pageToken = ''
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2:
        digest.merge(reader)
        break
      case 3:
        pageSize = reader.int32()
        break
      case 4:
        pageToken = reader.text()
        break
      case 5:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  if (pageSize < 0) throw invalid('page_size is negative')
  return { instance, rootDigest: digest.digest(reader, number, unnamed(instance)), pageSize, pageToken }
}

const DIRECTORY = 0x0a
const NEXT_PAGE_TOKEN = 0x12

/** The bytes that a Directory of this size adds to a response. */
export const treeEntryLength = fieldLength

/** `nextPageToken` is empty in the last response. */
export function getTreeResponse(directories: readonly Uint8Array[], nextPageToken: string): Uint8Array {
  const token = Buffer.from(nextPageToken)
  let total = token.length === 0 ? 0 : fieldLength(token.length)
  for (const directory of directories) total += fieldLength(directory.length)
  const out = Buffer.allocUnsafe(total)
  let at = 0
  for (const directory of directories) at = putField(out, at, DIRECTORY, directory)
  if (token.length > 0) putField(out, at, NEXT_PAGE_TOKEN, token)
  return out
}
