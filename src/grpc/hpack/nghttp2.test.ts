/**
 * Interoperability with the HPACK codec of Node (nghttp2) over real connections, in both directions.
 * The HTTP/2 here only carries header blocks: no flow control, no fragments, no padding.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'

const HEADERS = 1
const SETTINGS = 4
const END_STREAM = 1
const END_HEADERS = 4
const PRIORITY = 0x20
const ACK = 1
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const HEADER_TABLE_SIZE = 1

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

const frame = ({ type, flags, stream, payload }: Frame): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** One end of a connection, with our codec. */
class Wire {
  readonly #socket: net.Socket
  readonly #encoder = new HpackEncoder()
  readonly #decoder: HpackDecoder
  #unread = Buffer.alloc(0)

  constructor(socket: net.Socket, maxTableBytes: number, prefaceBytes: number) {
    this.#socket = socket
    this.#decoder = new HpackDecoder({ maxTableBytes, maxListBytes: 1 << 20 })
    const setting = Buffer.alloc(6)
    setting.writeUInt16BE(HEADER_TABLE_SIZE, 0)
    setting.writeUInt32BE(maxTableBytes, 2)
    this.#send({ type: SETTINGS, flags: 0, stream: 0, payload: setting })
    let skip = prefaceBytes
    socket.on('data', (chunk: Buffer) => {
      this.#unread = Buffer.concat([this.#unread, chunk])
      if (this.#unread.length < skip) return
      this.#unread = this.#unread.subarray(skip)
      skip = 0
      this.#readFrames()
    })
    socket.on('error', () => {})
  }

  onHeaders: (stream: number, fields: OutgoingField[]) => void = () => {}

  sendHeaders(stream: number, fields: readonly OutgoingField[]): void {
    const target = Buffer.alloc(encodedBound(fields))
    const payload = target.subarray(0, this.#encoder.encode(fields, target, 0))
    this.#send({ type: HEADERS, flags: END_HEADERS | END_STREAM, stream, payload })
  }

  #send(what: Frame): void {
    this.#socket.write(frame(what))
  }

  #readFrames(): void {
    while (this.#unread.length >= 9) {
      const end = 9 + this.#unread.readUIntBE(0, 3)
      if (this.#unread.length < end) return
      const [type, flags, stream] = [this.#unread.readUInt8(3), this.#unread.readUInt8(4), this.#unread.readUInt32BE(5)]
      const payload = this.#unread.subarray(9, end)
      this.#unread = this.#unread.subarray(end)
      this.#take({ type, flags, stream, payload })
    }
  }

  #take({ type, flags, stream, payload }: Frame): void {
    if (type === SETTINGS && (flags & ACK) === 0) {
      for (let at = 0; at < payload.length; at += 6) {
        if (payload.readUInt16BE(at) === HEADER_TABLE_SIZE) this.#encoder.setMaxTableBytes(payload.readUInt32BE(at + 2))
      }
      this.#send({ type: SETTINGS, flags: ACK, stream: 0, payload: Buffer.alloc(0) })
    }
    if (type !== HEADERS) return
    expect(flags & END_HEADERS).toBe(END_HEADERS)
    const list = this.#decoder.decode(payload, (flags & PRIORITY) === 0 ? 0 : 5, payload.length)
    this.onHeaders(
      stream,
      list.fields.map(({ name, value }) => [name, value]),
    )
  }
}

const seed = process.env.WINDLASS_SEED
const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const words = fc.oneof(
  fc.constantFrom('a', 'b', 'trailing words with spaces', 'caf\u00e9'),
  visible,
  fc.string({ unit: fc.constantFrom('a', '=', '9', 'Q'), minLength: 1, maxLength: 600 }),
)
const messages: readonly OutgoingField[][] = fc.sample(
  fc.uniqueArray(
    fc.tuple(fc.constantFrom('x-a', 'x-b', 'x-c', 'x-d', 'x-e-bin', 'authorization', 'grpc-timeout'), words),
    {
      maxLength: 7,
      selector: ([name]) => name,
    },
  ),
  { numRuns: 150, ...(seed === undefined ? {} : { seed: Number(seed) }) },
)

const withoutPseudo = (headers: http2.IncomingHttpHeaders): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') && name !== 'date'))

const sizes = [0, 64, 300, 4096, 65536]

test.each(sizes)(
  'header blocks round-trip between a Node client with a header table of %i bytes and our server',
  async (headerTableSize) => {
    const received: OutgoingField[][] = []
    const server = net.createServer((socket) => {
      const wire = new Wire(socket, Math.max(4096, headerTableSize), PREFACE.length)
      wire.onHeaders = (stream, fields) => {
        received.push(fields)
        wire.sendHeaders(stream, [[':status', '200'], ...fields.filter(([name]) => !name.startsWith(':'))])
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      settings: { headerTableSize },
    })
    try {
      for (const [i, fields] of messages.entries()) {
        const request = client.request({ ':path': `/${i % 7}`, ...Object.fromEntries(fields) })
        request.resume()
        const [headers] = (await once(request, 'response')) as [http2.IncomingHttpHeaders]
        expect(withoutPseudo(headers)).toEqual(Object.fromEntries(fields))
        expect(received.at(-1)).toContainEqual([':path', `/${i % 7}`])
        expect(received.at(-1)?.filter(([name]) => !name.startsWith(':'))).toEqual(fields)
      }
    } finally {
      client.destroy()
      server.close()
    }
  },
)

test.each(sizes)(
  'header blocks round-trip between our client and a Node server with a header table of %i bytes',
  async (headerTableSize) => {
    const server = http2.createServer({ settings: { headerTableSize } })
    server.on('stream', (stream, headers) => {
      stream.respond({ ':status': 200, ...withoutPseudo(headers) }, { endStream: true })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      socket.write(PREFACE)
      const wire = new Wire(socket, Math.max(4096, headerTableSize), 0)
      for (const [i, fields] of messages.entries()) {
        const answered = new Promise<OutgoingField[]>((resolve) => {
          wire.onHeaders = (_, answer) => resolve(answer)
        })
        wire.sendHeaders(2 * i + 1, [
          [':method', 'GET'],
          [':scheme', 'http'],
          [':path', '/'],
          [':authority', 'x'],
          ...fields,
        ])
        expect((await answered).filter(([name]) => name !== 'date')).toEqual([[':status', '200'], ...fields])
      }
    } finally {
      socket.destroy()
      server.close()
    }
  },
)
