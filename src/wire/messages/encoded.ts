import { BinaryWriter } from '@bufbuild/protobuf/wire'

interface Codec<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter
}

/** What a writer may keep for the next message. */
const MOST_KEPT_BYTES = 64 * 1024
let spare: BinaryWriter | undefined

/** As `encode(…).finish()`, with a writer that is used again: a fresh one costs more than a short message does. */
export function encoded<T>(codec: Codec<T>, message: T): Uint8Array {
  const writer = spare ?? new BinaryWriter()
  spare = undefined // one that throws midway is not used again, nor one that is at work further up
  const bytes = codec.encode(message, writer).finish()
  if (bytes.length <= MOST_KEPT_BYTES) spare = writer
  return bytes
}
