/** Reads protobuf messages field by field, for checking answers and for the plain server. */
import type { Content, Digest } from './messages.ts'

export interface Field {
  readonly number: number
  /** The value of a varint; 0 for fixed-width fields, which are skipped. */
  readonly value: number
  /** The content of a length-delimited field, as a view. */
  readonly bytes: Buffer
}

const NONE = Buffer.alloc(0)
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

export function fieldsOf(message: Uint8Array): Field[] {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const fields: Field[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = buffer[at++]
      if (byte === undefined) throw new Error('a message ends in the middle of a number')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  while (at < buffer.length) {
    const tag = varint()
    const number = tag >>> 3
    const wireType = tag & 7
    if (wireType === 0) fields.push({ number, value: varint(), bytes: NONE })
    else if (wireType === 2) {
      const length = varint()
      if (at + length > buffer.length) throw new Error('a message ends in the middle of a field')
      fields.push({ number, value: 0, bytes: buffer.subarray(at, at + length) })
      at += length
    } else {
      const width = FIXED[wireType]
      if (width === undefined) throw new Error(`a message has a field of wire type ${wireType}`)
      at += width
    }
  }
  return fields
}

export const all = (fields: readonly Field[], number: number): Buffer[] =>
  fields.filter((field) => field.number === number).map((field) => field.bytes)

export const bytesIn = (fields: readonly Field[], number: number): Buffer =>
  fields.find((field) => field.number === number)?.bytes ?? NONE

export const textIn = (fields: readonly Field[], number: number): string => bytesIn(fields, number).toString('latin1')

export const numberIn = (fields: readonly Field[], number: number): number =>
  fields.find((field) => field.number === number)?.value ?? 0

export function readDigest(message: Uint8Array): Digest {
  const fields = fieldsOf(message)
  return { hash: textIn(fields, 1), size: numberIn(fields, 2) }
}

/** Returns the digests in field 2: of FindMissing and BatchRead requests, and of FindMissing responses. */
export const readDigests = (message: Uint8Array): Digest[] => all(fieldsOf(message), 2).map(readDigest)

/**
 * Returns the blobs of a BatchUpdate request (field 2) or of a BatchRead response (field 1), with the status of each.
 */
export const readContents = (message: Uint8Array, field: number): (Content & { readonly code: number })[] =>
  all(fieldsOf(message), field).map((entry) => {
    const fields = fieldsOf(entry)
    const code = numberIn(fieldsOf(bytesIn(fields, 3)), 1)
    return { digest: readDigest(bytesIn(fields, 1)), data: bytesIn(fields, 2), code }
  })

/** The messages in the body of a gRPC call. */
export function messagesOf(body: Buffer): Buffer[] {
  const messages: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    if (at + 5 > body.length) throw new Error('a body ends in the middle of a message')
    const end = at + 5 + body.readUInt32BE(at + 1)
    if (body[at] !== 0 || end > body.length) throw new Error('a body is compressed, or ends in the middle of a message')
    messages.push(body.subarray(at + 5, end))
    at = end
  }
  return messages
}
