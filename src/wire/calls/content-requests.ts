import { DIGEST_FUNCTIONS, type DigestList } from '../../base/digest.ts'
import { COMPRESSORS, type Compressor } from '../../model/compressor.ts'
import { digestLength, putDigest } from '../hot/digest-writer.ts'
import { fieldLength, putField, putHead } from '../messages/message-writer.ts'

/**
 * Requests of the batch calls of ContentAddressableStorage, on the client's side; `content-answers.ts` reads their
 * responses, and `wire/hot` is the server's side.
 */
const INSTANCE = 0x0a
const DIGESTS = 0x12
const REQUESTS = 0x12
const DIGEST = 0x0a
const DATA = 0x12
const COMPRESSOR = 0x18
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

/** The bytes of a blob as they are sent: compressed when a compressor is set. */
export interface OutgoingContent {
  readonly bytes: Uint8Array
  readonly compressor?: Compressor
}

/** Encodes one blob for each digest. */
export function batchUpdateRequest(
  instance: string,
  digests: DigestList,
  blobs: readonly OutgoingContent[],
): Uint8Array {
  const name = Buffer.from(instance)
  const oneLength = (index: number): number => {
    const { bytes, compressor } = blobs[index] as OutgoingContent
    return fieldLength(digestLength(digests, index)) + fieldLength(bytes.length) + (isPacked(compressor) ? 2 : 0)
  }
  let length = instanceLength(name) + 2
  for (let index = 0; index < digests.count; index++) length += fieldLength(oneLength(index))
  const out = Buffer.allocUnsafe(length)
  let at = putInstance(out, name)
  for (let index = 0; index < digests.count; index++) {
    const { bytes, compressor } = blobs[index] as OutgoingContent
    at = putHead(out, at, REQUESTS, oneLength(index))
    at = putHead(out, at, DIGEST, digestLength(digests, index))
    at = putDigest(out, at, digests, index)
    at = putField(out, at, DATA, bytes)
    if (!isPacked(compressor)) continue
    out[at++] = COMPRESSOR
    out[at++] = COMPRESSORS.indexOf(compressor)
  }
  putFunction(out, at, { tag: UPDATE_FUNCTION, digests })
  return out
}

const isPacked = (compressor: Compressor | undefined): compressor is Compressor =>
  compressor !== undefined && compressor !== 'identity'

const instanceLength = (name: Uint8Array): number => (name.length === 0 ? 0 : fieldLength(name.length))

const putInstance = (out: Uint8Array, name: Uint8Array): number =>
  name.length === 0 ? 0 : putField(out, 0, INSTANCE, name)

/** Always encodes the digest function: a server that does not need it ignores it. */
function putFunction(out: Uint8Array, at: number, { tag, digests }: { tag: number; digests: DigestList }): void {
  out[at] = tag
  out[at + 1] = DIGEST_FUNCTIONS[digests.fn].number
}
