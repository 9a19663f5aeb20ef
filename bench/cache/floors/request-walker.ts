/** Finds the data in a stream of WriteRequests. Skips all other fields, except the first resource name. */
const GRPC_HEAD_BYTES = 5
const DATA_TAG = (10 << 3) | 2
const RESOURCE_TAG = (1 << 3) | 2
const MOST_HEAD_BYTES = 1024

export class RequestWalker {
  readonly #head = Buffer.alloc(MOST_HEAD_BYTES)
  #headBytes = 0
  #dataLeft = 0
  resource: Buffer = Buffer.alloc(0)
  /** Views of the data; the reader removes them. */
  readonly slices: Buffer[] = []

  read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#dataLeft > 0) {
        const slice = bytes.subarray(at, at + this.#dataLeft)
        this.slices.push(slice)
        this.#dataLeft -= slice.length
        at += slice.length
      } else {
        this.#head[this.#headBytes++] = bytes[at++] as number
        this.#look()
      }
    }
  }

  /** The data field is last: the head ends when its length is known. */
  #look(): void {
    for (let at = GRPC_HEAD_BYTES; at < this.#headBytes; ) {
      const tag = this.#head[at++] as number
      let value = 0
      for (let scale = 1; ; scale *= 128) {
        if (at >= this.#headBytes) return
        const byte = this.#head[at++] as number
        value += (byte & 0x7f) * scale
        if (byte < 0x80) break
      }
      if (tag === DATA_TAG) {
        this.#dataLeft = value
        this.#headBytes = 0
        return
      }
      if (tag === RESOURCE_TAG) {
        if (at + value > this.#headBytes) return
        if (this.resource.length === 0) this.resource = Buffer.from(this.#head.subarray(at, at + value))
        at += value
      }
    }
  }
}
