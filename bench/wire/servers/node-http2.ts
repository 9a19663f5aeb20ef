/** Node's own HTTP/2, with only the parts of gRPC that an answer needs: no deadlines, limits, metrics or logs. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { blocks, decodeWanted, framed, PONG, patterned, reportTo, STREAM, type Wanted } from './echo.ts'

const answer = framed(PONG)
const block = blocks((size) => framed(patterned(size)))

function respond(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
}

function send(stream: ServerHttp2Stream, expected: Wanted, sent: number): void {
  const message = block(expected.size)
  for (let count = sent + 1; count <= expected.count; count++) {
    if (stream.write(message)) continue
    stream.once('drain', () => send(stream, expected, count))
    return
  }
  stream.end()
}

function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders & { ':path'?: string }): void {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => stream.destroy())
  stream.once('end', () => {
    const request = Buffer.concat(chunks)
    const message = request.subarray(5, 5 + request.readUInt32BE(1))
    respond(stream)
    if (headers[':path'] === STREAM) send(stream, decodeWanted(message), 0)
    else stream.end(answer)
  })
}

const server = createServer()
server.on('stream', serve)
server.listen(0, '127.0.0.1')
reportTo(once(server, 'listening').then(() => (server.address() as AddressInfo).port))
