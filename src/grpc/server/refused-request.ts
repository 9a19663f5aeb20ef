import type { HeaderList } from '../hpack/header-field.ts'
import type { Http2Stream, StreamReceiver } from '../http2/stream.ts'
import { literals, type ResponseBlocks } from './response-blocks.ts'

/** A longer body is not read to its end: the response is sent at once, and the stream ends. */
const MOST_BODY_BYTES = 64 * 1024

const TEXT: Readonly<Record<string, Buffer>> = {
  405: Buffer.from(
    'This address speaks gRPC: requests are POST over HTTP/2. The HTTP API is on another address (--http).\n',
  ),
  415: Buffer.from(
    'This address speaks gRPC: the content type is application/grpc. The HTTP API is on another address (--http).\n',
  ),
}

/**
 * A well-formed request that is not a gRPC call. It is read to its end before it is answered, so that errors in the
 * rest of it are detected (RFC 9113, section 8.1.1). The response is text for users of curl or a browser.
 */
export class RefusedRequest implements StreamReceiver {
  readonly #stream: Http2Stream
  readonly #status: string
  readonly #blocks: ResponseBlocks
  readonly #hasBody: boolean
  #bytes = 0
  #isAnswered = false

  constructor(stream: Http2Stream, request: { status: string; method: string }, blocks: ResponseBlocks) {
    this.#stream = stream
    this.#status = request.status
    this.#blocks = blocks
    this.#hasBody = request.method !== 'HEAD'
  }

  begin(endStream: boolean): void {
    this.#stream.receiver = this
    if (endStream) this.#answer()
  }

  onHeaders(_trailers: HeaderList, endStream: boolean): void {
    if (endStream) this.#answer()
  }

  onData(bytes: Uint8Array, endStream: boolean): void {
    this.#bytes += bytes.length
    this.#stream.consume(bytes.length)
    if (endStream || this.#bytes > MOST_BODY_BYTES) this.#answer()
  }

  onReset(): void {}

  onDrained(): void {}

  onStreamGone(): void {}

  #answer(): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    const { connection, id } = this.#stream
    const text = TEXT[this.#status] ?? Buffer.alloc(0)
    const head = literals([
      [':status', this.#status],
      ['content-type', 'text/plain'],
      ['content-length', String(text.length)],
    ])
    connection.writeHeaderBlock(id, this.#blocks.other(head), !this.#hasBody)
    if (this.#hasBody) {
      this.#stream.sendData(text)
      this.#stream.finish(undefined)
      return
    }
    this.#stream.localClosed = true
    connection.localSideEnded(this.#stream)
  }
}
