import { readFileSync } from 'node:fs'
import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { HeaderList } from '../../src/grpc/hpack/header-field.ts'
import { Http2Connection } from '../../src/grpc/http2/connection.ts'
import type { ConnectionHost } from '../../src/grpc/http2/connection-host.ts'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import type { Http2Stream } from '../../src/grpc/http2/stream.ts'
import { literals } from '../../src/grpc/response-blocks.ts'

/**
 * A web server of one page on our HTTP/2 layer, for h2spec to take apart: GET / (or any request) is answered with 200
 * and a body. Usage: `node fixture.ts PORT [CERT KEY]`; prints the port it bound.
 */
const PAGE = Buffer.from(
  'Windlass speaks HTTP/2. This page is long enough to be cut into several small frames.\n'.repeat(2),
)

const timing = {
  now: () => performance.now(),
  after(ms: number, callback: () => void) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

class PageHost implements ConnectionHost {
  readonly budget = { used: 0, most: Number.POSITIVE_INFINITY }
  readonly hasParked = false
  readonly connection: Http2Connection

  constructor(socket: Socket) {
    this.connection = new Http2Connection({ socket, role: 'server', limits: DEFAULT_LIMITS, timing, host: this })
  }

  onStream(stream: Http2Stream, _list: HeaderList, endStream: boolean): void {
    stream.receiver = {
      onHeaders: (_trailers, end) => end && this.#answer(stream),
      onData: (bytes, end) => {
        stream.consume(bytes.length)
        if (end) this.#answer(stream)
      },
      onReset() {},
      onDrained() {},
    }
    if (endStream) this.#answer(stream)
  }

  #answer(stream: Http2Stream): void {
    const head = literals([
      [':status', '200'],
      ['content-type', 'text/plain'],
      ['content-length', String(PAGE.length)],
    ])
    this.connection.writeHeaderBlock(stream.id, head, false)
    stream.sendData(PAGE)
    stream.finish(undefined)
  }

  onPeerSettings() {}
  onGoaway() {}
  onStreamGone() {}
  onRoom() {}
  onClosed() {}
}

const [port = '0', cert, key] = process.argv.slice(2)
const accept = (socket: Socket): void => {
  socket.setNoDelay(true)
  new PageHost(socket)
}
const server: Server =
  cert === undefined || key === undefined
    ? createNetServer(accept)
    : createTlsServer({ cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['h2'] }, accept)
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' && address !== null ? address.port : address)
})
