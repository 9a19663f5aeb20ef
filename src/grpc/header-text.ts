import { GrpcError, type MetadataInit, STATUS } from './status.ts'

/** The encodings of text and bytes in gRPC header fields. */

export type HeaderPair = readonly [name: string, value: string]

/** Names that this library sets, or that HTTP/2 does not allow. */
const RESERVED =
  /^(grpc-|:|(content-type|content-length|te|host|connection|proxy-connection|keep-alive|transfer-encoding|upgrade)$)/
const NAME = /^[0-9a-z_.-]+$/
const VALUE = /^[\x20-\x7e]*$/

/** Returns metadata as header fields. Throws for a name or value that could not be transmitted unchanged. */
export function metadataPairs(init: MetadataInit): HeaderPair[] {
  const pairs: HeaderPair[] = []
  for (const [key, given] of Object.entries(init)) {
    const name = key.toLowerCase()
    if (!NAME.test(name) || RESERVED.test(name)) throw invalid(`metadata may not be named ${JSON.stringify(key)}`)
    for (const value of isMany(given) ? given : [given]) pairs.push([name, fieldValue(name, value)])
  }
  return pairs
}

const isMany = (value: MetadataInit[string]): value is readonly (string | Uint8Array)[] => Array.isArray(value)

function fieldValue(name: string, value: string | Uint8Array): string {
  if (name.endsWith('-bin')) {
    if (typeof value === 'string') throw invalid(`metadata ${name} takes bytes`)
    return toBase64(value)
  }
  if (typeof value !== 'string') throw invalid(`metadata ${name} takes text; bytes need a name that ends in -bin`)
  if (!VALUE.test(value)) throw invalid(`metadata ${name} holds characters that a header cannot carry`)
  return value.trim()
}

const invalid = (message: string): GrpcError => new GrpcError(STATUS.internal, message)

/** Base64 without padding, as gRPC requires. */
export const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64').replace(/=+$/, '')

/** grpc-message: UTF-8, with all bytes but printable ASCII, and the percent sign, as %XX. */
export function encodeMessage(message: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(message)) return message
  let text = ''
  for (const byte of Buffer.from(message, 'utf8')) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

/** Lenient, as gRPC requires: an invalid escape is left unchanged. */
export function decodeMessage(text: string): string {
  if (!text.includes('%')) return text
  const bytes: number[] = []
  for (let i = 0; i < text.length; i++) {
    const hex = text[i] === '%' ? text.slice(i + 1, i + 3) : ''
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16))
      i += 2
    } else bytes.push(...Buffer.from(text[i] as string, 'utf8'))
  }
  return Buffer.from(bytes).toString('utf8')
}
