import { type FaultError, invalid } from '../../base/fault.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'

/**
 * Reads a protobuf message field by field, strictly, without creating an object.
 *
 * `next()` steps to the next field of the current message and leaves its number in `field` and its wire type in
 * `type`; the caller's switch then takes the value with exactly one of the readers below, or `skip()`s it. A nested
 * message is entered with `enter()` and left with `leave()`; in between, `next()` ends where the nested one does.
 *
 * Everything is checked against the end of the innermost message, so nothing is ever read beyond it: a length that
 * runs over, a varint of more than 64 bits, field number 0, groups, text that is not UTF-8 and a known field of an
 * unexpected wire type all throw `invalid`, where the generated decoders accept them.
 * Views share memory with the message.
 */
export class MessageReader {
  readonly bytes: Uint8Array
  /** The message name, for errors. */
  readonly name: string
  at = 0
  end: number
  field = 0
  type = 0
  /** Offset of the tag of the current field. */
  start = 0

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes
    this.name = name
    this.end = bytes.length
  }

  next(): boolean {
    if (this.at === this.end) return false
    this.start = this.at
    const first = this.bytes[this.at] as number
    let tag = first
    if (first < 0x80) this.at++
    else tag = this.varint()
    if (tag < 8 || tag > 0xffff_ffff) throw this.malformed('a field number is 0 or too large')
    this.field = tag >>> 3
    this.type = tag & 7
    return true
  }

  /** Skips the value of the current field. */
  skip(): void {
    switch (this.type) {
      case 0:
        this.varint()
        return
      case 1:
        return this.forward(8)
      case 2:
        return this.forward(this.length())
      case 5:
        return this.forward(4)
      default:
        throw this.malformed(this.type < 5 ? 'groups are not supported' : 'a field has an unknown wire type')
    }
  }

  /** Returns the argument for `leave`. */
  enter(): number {
    const length = this.delimited()
    const outer = this.end
    this.end = this.at + length
    return outer
  }

  leave(outer: number): void {
    this.at = this.end
    this.end = outer
  }

  /** Length of the current field, which must be one of bytes; `at` is then where they start. */
  delimited(): number {
    if (this.type !== 2) throw this.mistyped()
    return this.length()
  }

  view(): Uint8Array {
    const length = this.delimited()
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  text(): string {
    const length = this.delimited()
    const from = this.at
    this.at += length
    return textIn(this.bytes, from, this.at) ?? this.fail(NOT_TEXT)
  }

  /** Validates text without creating the string. */
  skipText(): void {
    const length = this.delimited()
    this.mustBeText(this.at, length)
    this.at += length
  }

  mustBeText(from: number, length: number): void {
    const to = from + length
    if (!isAscii(this.bytes, from, to) && textIn(this.bytes, from, to) === undefined) this.fail(NOT_TEXT)
  }

  instance(): string {
    const name = this.text()
    const problem = instanceNameProblem(name)
    if (problem !== undefined) throw invalid(`the instance name ${problem}`)
    return name
  }

  /** An int64 from 0 to 2^53 - 1. */
  count(what: string): number {
    if (this.type !== 0) throw this.mistyped()
    const from = this.at
    const value = this.varint()
    if (value <= Number.MAX_SAFE_INTEGER) return value
    // A negative int64 takes all ten bytes, the last of them 1.
    const negative = this.at - from === 10 && this.bytes[this.at - 1] === 1
    throw invalid(`${what} is ${negative ? 'negative' : 'too large'}`)
  }

  /** An int64 between -2^53 and 2^53, which a double holds exactly. */
  int64(): number {
    if (this.type !== 0) throw this.mistyped()
    const from = this.at
    const value = this.varint()
    // A negative number takes ten bytes: the complement of the first nine is its distance from -1.
    let distance = 0
    const isNegative = this.at - from === 10
    if (isNegative)
      for (let at = this.at - 2; at >= from; at--) distance = distance * 128 + (~(this.bytes[at] as number) & 0x7f)
    const signed = isNegative ? -1 - distance : value
    return Number.isSafeInteger(signed) ? signed : this.fail('a number is beyond 2^53')
  }

  /** An int32 or an enum: the upper half of a longer varint is dropped, as the format demands. */
  int32(): number {
    if (this.type !== 0) throw this.mistyped()
    return this.low32()
  }

  /** A repeated int32 or enum, which may come one by one or packed together. */
  int32s(): number[] {
    if (this.type !== 2) return [this.int32()]
    const outer = this.enter()
    const values: number[] = []
    while (this.at < this.end) values.push(this.low32())
    this.leave(outer)
    return values
  }

  /** A google.protobuf.Timestamp in milliseconds since 1970. Clients crash on one that is out of its range. */
  time(): number {
    let seconds = 0
    let nanos = 0
    const outer = this.enter()
    while (this.next()) {
      if (this.field === 1) seconds = this.int64()
      else if (this.field === 2) nanos = this.int32()
      else this.skip()
    }
    this.leave(outer)
    if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw invalid(`a timestamp has ${seconds} seconds`)
    if (nanos < 0 || nanos > 999_999_999) throw invalid(`a timestamp has ${nanos} nanos`)
    return seconds * 1000 + nanos / 1e6
  }

  bool(): boolean {
    if (this.type !== 0) throw this.mistyped()
    return this.varint() !== 0
  }

  /** An unsigned 64-bit varint, exact up to 2^53. */
  varint(): number {
    const { bytes, end } = this
    let at = this.at
    let value = 0
    let scale = 1
    const last = at + 9
    while (at < end) {
      const byte = bytes[at++] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (at > last && byte > 1) break
        this.at = at
        return value
      }
      if (at > last) break
      scale *= 128
    }
    return this.fail(at > last ? 'a number is longer than 64 bits' : 'a number is cut off')
  }

  malformed(what: string): FaultError {
    return invalid(`malformed ${this.name}: ${what}`)
  }

  mistyped(): FaultError {
    return this.malformed(`field ${this.field} has the wrong type`)
  }

  private low32(): number {
    const from = this.at
    this.varint()
    let value = 0
    for (let at = from, shift = 0; at < this.at && shift < 32; at++, shift += 7) {
      value |= ((this.bytes[at] as number) & 0x7f) << shift
    }
    return value
  }

  private length(): number {
    const { at, end } = this
    let length = at < end ? (this.bytes[at] as number) : 0x80
    if (length < 0x80) this.at = at + 1
    else length = this.varint()
    if (length > end - this.at) throw this.malformed('a field runs past the end')
    return length
  }

  private forward(count: number): void {
    if (count > this.end - this.at) throw this.malformed('a field runs past the end')
    this.at += count
  }

  private fail(what: string): never {
    throw this.malformed(what)
  }
}

/** The range of google.protobuf.Timestamp: the years 1 to 9999. */
const MIN_SECONDS = -62_135_596_800
const MAX_SECONDS = 253_402_300_799
const NOT_TEXT = 'text is not UTF-8'
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined when the bytes are not UTF-8. Most names are short and ASCII, and need no decoder. */
function textIn(bytes: Uint8Array, from: number, to: number): string | undefined {
  if (to - from <= 256 && isAscii(bytes, from, to)) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
  }
  try {
    return strict.decode(bytes.subarray(from, to))
  } catch {
    return undefined
  }
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  let seen = 0
  for (let at = from; at < to; at++) seen |= bytes[at] as number
  return seen < 0x80
}
