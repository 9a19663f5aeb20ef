import { lend, takeBack } from './lent-buffers.ts'
import { GrpcError, STATUS } from './status.ts'

/** Each message is preceded by one byte of flags and four bytes of length. */
export const PREFIX_BYTES = 5
const LEAST_BODY_BYTES = 16 * 1024
/** From this size on memory is reused, if `reuses` is set. */
const LEAST_LENT_BYTES = 32 * 1024
const GROWTH = 4

/**
 * Finds gRPC messages in the pieces of a body: one byte of flags, four of length, then the message. Pieces are valid
 * only during a call, so a message is a copy. Its buffer grows with the received bytes, so that announcing a large
 * message costs its sender as much as us.
 */
export class MessageParser {
  readonly #maxBytes: number
  readonly #reuses: boolean
  readonly #prefix = new Uint8Array(PREFIX_BYTES)
  #prefixHave = 0
  #body: Buffer | undefined
  #bodyHave = 0
  #length = 0
  /** The message that the last `parse` completed. */
  message: Uint8Array | undefined

  /** With `reuses`, the caller must pass each message to `release` when it is no longer needed. */
  constructor(maxMessageBytes: number, reuses = false) {
    this.#maxBytes = maxMessageBytes
    this.#reuses = reuses
  }

  /** Parses from `at` to the end of at most one message, and returns the position where it stopped. */
  parse(bytes: Uint8Array, at: number): number {
    this.message = undefined
    if (this.#body === undefined) {
      at = this.#readPrefix(bytes, at)
      if (this.#prefixHave < PREFIX_BYTES) return at
      const here = bytes.length - at
      const first = here >= this.#length ? this.#length : Math.max(LEAST_BODY_BYTES, GROWTH * here)
      this.#body = this.#take(Math.min(this.#length, first))
      this.#bodyHave = 0
    }
    return this.#fill(bytes, at)
  }

  release(message: Uint8Array): void {
    if (this.#reuses && message.length >= LEAST_LENT_BYTES) takeBack(Buffer.from(message.buffer))
  }

  #take(bytes: number): Buffer {
    return this.#reuses && bytes >= LEAST_LENT_BYTES ? lend(bytes) : Buffer.allocUnsafe(bytes)
  }

  /** Whether the last message is complete; false at the end of a body means that it was cut off. */
  get isBetweenMessages(): boolean {
    return this.#prefixHave === 0
  }

  #readPrefix(bytes: Uint8Array, at: number): number {
    while (this.#prefixHave < PREFIX_BYTES && at < bytes.length) {
      this.#prefix[this.#prefixHave++] = bytes[at++] as number
    }
    if (this.#prefixHave === PREFIX_BYTES) this.#length = checkedLength(this.#prefix, 0, this.#maxBytes)
    return at
  }

  #fill(bytes: Uint8Array, at: number): number {
    let body = this.#body as Buffer
    const take = Math.min(bytes.length - at, this.#length - this.#bodyHave)
    if (this.#bodyHave + take > body.length) {
      const larger = this.#take(Math.min(this.#length, Math.max(GROWTH * body.length, this.#bodyHave + take)))
      body.copy(larger, 0, 0, this.#bodyHave)
      this.release(body)
      body = larger
      this.#body = larger
    }
    body.set(take === bytes.length ? bytes : bytes.subarray(at, at + take), this.#bodyHave)
    this.#bodyHave += take
    if (this.#bodyHave === this.#length) {
      this.message = body.length === this.#length ? body : body.subarray(0, this.#length)
      this.#body = undefined
      this.#prefixHave = 0
    }
    return at + take
  }
}

/** Returns the message of a `body` with exactly one, otherwise undefined. Nearly all unary calls use this path. */
export function soleMessage(body: Uint8Array, maxMessageBytes: number): Uint8Array | undefined {
  if (body.length < PREFIX_BYTES) return undefined
  const length = checkedLength(body, 0, maxMessageBytes)
  return body.length === PREFIX_BYTES + length ? body.subarray(PREFIX_BYTES) : undefined
}

function checkedLength(bytes: Uint8Array, at: number, maxBytes: number): number {
  if (bytes[at] !== 0) throw bytes[at] === 1 ? COMPRESSED : unknownFlags(bytes[at] as number)
  const length =
    (bytes[at + 1] as number) * 0x1000000 +
    (((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 8) | (bytes[at + 4] as number))
  if (length > maxBytes) {
    throw new GrpcError(
      STATUS.resourceExhausted,
      `a message of ${length} bytes is larger than the limit of ${maxBytes}`,
    )
  }
  return length
}

/** One shared error object, so that callers can compare by identity. */
export const COMPRESSED = new GrpcError(
  STATUS.unimplemented,
  'compressed messages are not supported; send grpc-encoding: identity',
)

const unknownFlags = (flags: number): GrpcError =>
  new GrpcError(STATUS.internal, `a message begins with unknown flags ${flags}`)

/** Writes the five bytes that precede a message of `length` bytes. */
export function putPrefix(target: Uint8Array, offset: number, length: number): number {
  target[offset] = 0
  target[offset + 1] = length >>> 24
  target[offset + 2] = length >>> 16
  target[offset + 3] = length >>> 8
  target[offset + 4] = length
  return offset + PREFIX_BYTES
}
