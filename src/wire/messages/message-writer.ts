import { BinaryWriter } from '@bufbuild/protobuf/wire'

/**
 * Writes protobuf messages by hand into a buffer of the exact size: one allocation per message. Each `put…` returns the
 * offset behind the bytes that it wrote; each has a `…Length` that returns how many bytes those are.
 */
export function varintLength(value: number): number {
  if (value < 0) return 10
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) length++
  return length
}

/** For integers up to 2^53, and for small negative ones in the encoding of int64. */
export function putVarint(out: Uint8Array, at: number, value: number): number {
  if (value < 0) return putNegative(out, at, value)
  let next = at
  let rest = value
  while (rest >= 0x80) {
    out[next++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  out[next++] = rest
  return next
}

function putNegative(out: Uint8Array, at: number, value: number): number {
  let rest = BigInt.asUintN(64, BigInt(value))
  for (let index = 0; index < 9; index++, rest >>= 7n) out[at + index] = Number(rest & 0x7fn) | 0x80
  out[at + 9] = 1
  return at + 10
}

/** A field of bytes, text or a nested message, with a tag of one byte. */
export const fieldLength = (length: number): number => 1 + varintLength(length) + length

export function putField(out: Uint8Array, at: number, tag: number, bytes: Uint8Array): number {
  const from = putHead(out, at, tag, bytes.length)
  out.set(bytes, from)
  return from + bytes.length
}

/** Tag and length of a field; the caller writes its bytes. */
export function putHead(out: Uint8Array, at: number, tag: number, length: number): number {
  out[at] = tag
  return putVarint(out, at + 1, length)
}

interface Codec<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter
}

/** A writer that has grown beyond this is not reused. */
const MOST_KEPT_BYTES = 64 * 1024
let spare: BinaryWriter | undefined

/**
 * The same bytes as `encode(…).finish()`, with a reused writer: creating one costs more than encoding a short message.
 */
export function encoded<T>(codec: Codec<T>, message: T): Uint8Array {
  const writer = spare ?? new BinaryWriter()
  spare = undefined // a nested call must not use a writer in use, and a writer is not reused after an exception
  const bytes = codec.encode(message, writer).finish()
  if (bytes.length <= MOST_KEPT_BYTES) spare = writer
  return bytes
}
