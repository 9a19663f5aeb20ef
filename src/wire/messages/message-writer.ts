/**
 * Puts the pieces of a protobuf message into a buffer whose size was counted before: one allocation per message.
 * Each `put…` answers where the next piece goes; each has a `…Length` that says how far that is.
 */
export function varintLength(value: number): number {
  if (value < 0) return 10
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) length++
  return length
}

/** For integers up to 2^53, and for small negative ones as an int64 spells them. */
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

/** Tag and length; the bytes themselves follow. */
export function putHead(out: Uint8Array, at: number, tag: number, length: number): number {
  out[at] = tag
  return putVarint(out, at + 1, length)
}
