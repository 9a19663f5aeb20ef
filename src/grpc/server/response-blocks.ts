import { encodeMessage, type HeaderPair, metadataPairs, toBase64 } from '../header-text.ts'
import type { GrpcErrorInit, MetadataInit, StatusCode } from '../status.ts'

/**
 * The header blocks of responses, one object per connection.
 *
 * Nearly every response has the same head (:status 200, content-type) and the same trailers (grpc-status 0). The first
 * response adds both to the peer's HPACK table; later they take two bytes and one. Nothing else is added to the table:
 * other fields are literals outside of it. A block depends on the blocks sent before it, so a block must be requested
 * only when it is written next.
 */
const CONTENT_TYPE = 'application/grpc'
const STATUS_200 = 0x88
const LITERAL_CONTENT_TYPE = [0x0f, 31 - 15, CONTENT_TYPE.length, ...Buffer.from(CONTENT_TYPE)]
/** Literal with incremental indexing, name 31 of the static table (content-type). */
const INSERT_CONTENT_TYPE = [0x5f, CONTENT_TYPE.length, ...Buffer.from(CONTENT_TYPE)]

const INSERTING_HEAD = Buffer.from([STATUS_200, ...INSERT_CONTENT_TYPE])
const INSERTING_OK = Buffer.from([0x40, 11, ...Buffer.from('grpc-status'), 1, 0x30])
/** The newest entry of the table has index 62; a later insertion moves it to 63. */
const NEWEST_HEAD = Buffer.from([STATUS_200, 0x80 | 62])
const SECOND_HEAD = Buffer.from([STATUS_200, 0x80 | 63])
const NEWEST_OK = Buffer.from([0x80 | 62])
const LITERAL_HEAD = Buffer.from([STATUS_200, ...LITERAL_CONTENT_TYPE])
const LITERAL_OK = literals([['grpc-status', '0']])
const TABLE_SIZE_ZERO = Buffer.from([0x20])
const FULL_TABLE_BYTES = 4096

export class ResponseBlocks {
  #head: Buffer = INSERTING_HEAD
  #ok: Buffer = INSERTING_OK
  #settled = false
  #isShut = false
  #sizeUpdateDue = false

  head(): Buffer {
    if (this.#settled) return this.#head
    const block = this.#prefixed(this.#head)
    if (this.#head === INSERTING_HEAD) this.#head = NEWEST_HEAD
    return block
  }

  ok(): Buffer {
    if (this.#settled) return this.#ok
    const block = this.#prefixed(this.#ok)
    if (this.#ok === INSERTING_OK) {
      this.#ok = NEWEST_OK
      this.#head = SECOND_HEAD
    }
    this.#settled = true
    return block
  }

  headWith(metadata: MetadataInit): Buffer {
    // The metadata is encoded first: if it cannot be sent, the table must not have changed.
    const more = literals(metadataPairs(metadata))
    return Buffer.concat([this.head(), more])
  }

  okWith(trailers: MetadataInit): Buffer {
    const more = literals(metadataPairs(trailers))
    return Buffer.concat([this.ok(), more])
  }

  /** Trailers-Only: head and trailers in one block, for a call that failed before it sent anything. */
  headAnd(trailers: Buffer): Buffer {
    return Buffer.concat([this.head(), trailers])
  }

  /** Returns any other block, which must be written next. */
  other(block: Buffer): Buffer {
    return this.#settled ? block : this.#prefixed(block)
  }

  /**
   * Called with the peer's table size. If it is below the default, the table is not used; the next block announces
   * that.
   */
  peerTableBytes(bytes: number): void {
    if (bytes >= FULL_TABLE_BYTES || this.#isShut) return
    this.#isShut = true
    this.#sizeUpdateDue = true
    this.#settled = false
    this.#head = LITERAL_HEAD
    this.#ok = LITERAL_OK
  }

  #prefixed(block: Buffer): Buffer {
    if (!this.#sizeUpdateDue) return block
    this.#sizeUpdateDue = false
    return Buffer.concat([TABLE_SIZE_ZERO, block])
  }
}

/** Sent to a client that compressed its message. */
export const ACCEPTED_ENCODINGS = literals([['grpc-accept-encoding', 'identity']])

/** Trailers of a failed call; `init` may add details and trailers. */
export function errorTrailers(code: StatusCode, message: string, init: GrpcErrorInit): Buffer {
  const pairs: HeaderPair[] = [['grpc-status', String(code)]]
  if (message !== '') pairs.push(['grpc-message', shortMessage(message)])
  if (init.details !== undefined) pairs.push(['grpc-status-details-bin', toBase64(init.details)])
  if (init.trailers !== undefined) pairs.push(...metadataPairs(init.trailers))
  return literals(pairs)
}

/** Clients commonly accept 8 KiB of headers: a long message must not make the status itself unreadable. */
const MAX_MESSAGE_BYTES = 4096

function shortMessage(message: string): string {
  if (message.length * 9 <= MAX_MESSAGE_BYTES) return encodeMessage(message)
  let text = ''
  for (const character of message) {
    const next = encodeMessage(character)
    if (text.length + next.length > MAX_MESSAGE_BYTES) return `${text}${encodeMessage('…')}`
    text += next
  }
  return text
}

/** Encodes fields as HPACK literals without indexing and without Huffman: independent of any table. */
export function literals(pairs: readonly HeaderPair[]): Buffer {
  const chunks: Uint8Array[] = []
  for (const [name, value] of pairs) chunks.push(Buffer.from([0x00]), text(name), text(value))
  return Buffer.concat(chunks)
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length: number[] = []
  if (bytes.length < 127) length.push(bytes.length)
  else {
    length.push(127)
    let rest = bytes.length - 127
    while (rest >= 128) {
      length.push((rest & 127) | 128)
      rest >>>= 7
    }
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}
