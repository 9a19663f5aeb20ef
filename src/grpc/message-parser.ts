import { GrpcError, STATUS } from './status.ts'

/** One byte of flags and four of length stand before each message. */
export const PREFIX_BYTES = 5
const FIRST_BODY_BYTES = 256 * 1024

/**
 * Finds gRPC messages in the pieces of a body: one byte of flags, four of length, then the message. A message that
 * lies whole in one piece is a view of it; one that straddles pieces is copied into a buffer that grows with what has
 * really come, so that announcing a large message costs its sender as much as us.
 */
export class MessageParser {
  readonly #maxBytes: number
  readonly #prefix = new Uint8Array(PREFIX_BYTES)
  #prefixHave = 0
  #body: Buffer | undefined
  #bodyHave = 0
  #length = 0

  constructor(maxMessageBytes: number) {
    this.#maxBytes = maxMessageBytes
  }

  /** Appends the messages that `bytes` completes to `messages`. */
  push(bytes: Uint8Array, messages: Uint8Array[]): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#body === undefined) {
        at = this.#readPrefix(bytes, at)
        if (this.#prefixHave < PREFIX_BYTES) return
        if (bytes.length - at >= this.#length) {
          messages.push(bytes.subarray(at, at + this.#length))
          at += this.#length
          this.#prefixHave = 0
          continue
        }
        this.#body = Buffer.allocUnsafe(Math.min(this.#length, Math.max(FIRST_BODY_BYTES, 2 * (bytes.length - at))))
        this.#bodyHave = 0
      }
      at = this.#fill(bytes, at, messages)
    }
  }

  /** False when the body ended inside a message. */
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

  #fill(bytes: Uint8Array, at: number, messages: Uint8Array[]): number {
    let body = this.#body as Buffer
    const take = Math.min(bytes.length - at, this.#length - this.#bodyHave)
    if (this.#bodyHave + take > body.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#length, Math.max(2 * body.length, this.#bodyHave + take)))
      body.copy(larger, 0, 0, this.#bodyHave)
      body = larger
      this.#body = larger
    }
    body.set(take === bytes.length ? bytes : bytes.subarray(at, at + take), this.#bodyHave)
    this.#bodyHave += take
    if (this.#bodyHave === this.#length) {
      messages.push(body)
      this.#body = undefined
      this.#prefixHave = 0
    }
    return at + take
  }
}

/** The one message of `body` when it holds exactly one, else undefined: nearly every unary call takes this way. */
export function soleMessage(body: Uint8Array, maxMessageBytes: number): Uint8Array | undefined {
  if (body.length < PREFIX_BYTES) return undefined
  const length = checkedLength(body, 0, maxMessageBytes)
  return body.length === PREFIX_BYTES + length ? body.subarray(PREFIX_BYTES) : undefined
}

function checkedLength(bytes: Uint8Array, at: number, maxBytes: number): number {
  if (bytes[at] !== 0) throw compressedMessage(bytes[at] as number)
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

const compressedMessage = (flags: number): GrpcError =>
  flags === 1
    ? new GrpcError(STATUS.unimplemented, 'compressed messages are not supported; send grpc-encoding: identity')
    : new GrpcError(STATUS.internal, `a message begins with unknown flags ${flags}`)

/** The five bytes that stand before a message of `length` bytes. */
export function putPrefix(target: Uint8Array, offset: number, length: number): number {
  target[offset] = 0
  target[offset + 1] = length >>> 24
  target[offset + 2] = length >>> 16
  target[offset + 3] = length >>> 8
  target[offset + 4] = length
  return offset + PREFIX_BYTES
}
