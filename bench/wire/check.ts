/** Checks that a contestant answers as gRPC requires, with Node's HTTP/2 client, which shares no code with ours. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import type { Contestant } from './contestants.ts'
import { encodeWanted, framed, PING, PONG, patterned, SMALL, STREAM } from './servers/echo.ts'

const LONGEST_ANSWER_MS = 10_000

export async function checkAnswers({ name, port }: Contestant): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    assert.deepEqual(await call(session, SMALL, PING), framed(PONG), `${name}: the answer to a small call`)
    const expected = { size: 65_536, count: 5 }
    const stream = Buffer.concat(Array.from({ length: expected.count }, () => framed(patterned(expected.size))))
    const streamed = await call(session, STREAM, encodeWanted(expected))
    assert.ok(streamed.equals(stream), `${name}: ${streamed.length} streamed bytes are not those expected`)
  } finally {
    session.destroy()
  }
}

async function call(session: ClientHttp2Session, path: string, message: Buffer): Promise<Buffer> {
  const signal = AbortSignal.timeout(LONGEST_ANSWER_MS)
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request(headers, { signal })
  const head = once(stream, 'response', { signal }) as Promise<[IncomingHttpHeaders & { ':status'?: number }]>
  const tail = once(stream, 'trailers', { signal }) as Promise<[IncomingHttpHeaders]>
  stream.end(framed(message))
  const chunks: Buffer[] = []
  const [[response], [trailers]] = await Promise.all([head, tail, gather(stream, chunks)])
  assert.equal(response[':status'], 200)
  assert.match(response['content-type'] ?? '', /^application\/grpc/)
  assert.equal(trailers['grpc-status'], '0')
  return Buffer.concat(chunks)
}

async function gather(source: AsyncIterable<Buffer>, chunks: Buffer[]): Promise<void> {
  for await (const chunk of source) chunks.push(chunk)
}
