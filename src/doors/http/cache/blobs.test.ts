import type { Socket } from 'node:net'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import { prepareHashing } from '../../../base/hashing/create-hasher.ts'
import { digestOf as digestBy } from '../../../base/hashing/hash-of.ts'
import { silentLog } from '../../../base/log.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { digestOf, holds, streamOf } from '../../../storage/blobs.fixture.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { forgetfulFiles } from '../../../storage/packs/forgetful-files.fixture.ts'
import { openOn } from '../../../storage/packs/pack-store.fixture.ts'
import { randomFrom } from '../../../testing/random-source.ts'
import { askRaw, openRaw, untilClosed } from '../../../testing/raw-http.ts'
import type { HttpAnswered } from '../server/http-meter.ts'
import { type TestCache, testCache } from './http-cache.fixture.ts'

const random = randomFrom(31)
const small = random.bytes(1000)
const big = random.bytes(3_000_000)
const text = Buffer.from('heave ho; '.repeat(50_000))

let store: BlobStore
let cache: TestCache
const answers: HttpAnswered[] = []
beforeAll(async () => {
  await prepareHashing()
  store = memoryStore()
  cache = await testCache(store, { door: { meter: { started: () => (answered) => answers.push(answered) } } })
})
afterAll(() => cache.close())

const hashOf = (bytes: Uint8Array): string => digestOf(bytes).hash
const put = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${cache.url}${path}`, { method: 'PUT', body: Uint8Array.from(body), headers })
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${cache.url}${path}`, { headers })
const bytesIn = async (answer: Response) => Buffer.from(await answer.arrayBuffer())
const raw = (line: string, headers: readonly string[] = [], body = '') =>
  askRaw(cache.address, [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers], body)

describe('blob', () => {
  test.each([
    ['small', small],
    ['large', big],
    ['empty', Buffer.alloc(0)],
  ])('a %s blob is stored and returned by its hash', async (_, bytes) => {
    const path = `/cas/${hashOf(bytes)}`
    expect((await put(path, bytes)).status).toBe(200)
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect((await bytesIn(answer)).equals(bytes)).toBe(true)
    expect((await put(path, bytes)).status).toBe(200)
  })

  test('the empty blob is present without an upload', async () => {
    const answer = await get(`/cas/${hashOf(Buffer.alloc(0))}`)
    expect([answer.status, (await bytesIn(answer)).length]).toEqual([200, 0])
  })

  test('a missing blob is 404 with one line of text', async () => {
    const hash = hashOf(Buffer.from('never'))
    const answer = await get(`/cas/${hash}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/plain; charset=UTF-8'])
    expect(await answer.text()).toBe(`no blob ${hash}\n`)
    expect((await fetch(`${cache.url}/cas/${hash}`, { method: 'HEAD' })).status).toBe(404)
  })

  test('HEAD returns the size, without a body', async () => {
    await put(`/cas/${hashOf(big)}`, big)
    const answer = await raw(`HEAD /cas/${hashOf(big)}`)
    expect([answer.status, answer.headers['content-length'], answer.body]).toEqual([200, '3000000', ''])
  })

  test('the length of the hash selects the digest function, and the instance selects among equal lengths', async () => {
    for (const fn of ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const) {
      const bytes = random.bytes(500)
      const digest = digestOf(bytes, fn)
      expect((await put(`/cas/${digest.hash}`, bytes)).status).toBe(200)
      expect(await holds(store, digest)).toBe(true)
      expect(await bytesIn(await get(`/any/instance/cas/${digest.hash}`))).toEqual(bytes)
    }
    const blake3 = digestBy('blake3', small)
    expect((await put(`/cas/${blake3.hash}`, small)).status).toBe(400)
    expect((await put(`/b3/cas/${blake3.hash}`, small)).status).toBe(200)
    expect((await get(`/b3/cas/${blake3.hash}`)).status).toBe(200)
    expect((await get(`/cas/${blake3.hash}`)).status).toBe(404)
  })

  test('an invalid hash or instance name is refused with 400', async () => {
    for (const hash of ['abc', 'x'.repeat(64), hashOf(small).toUpperCase(), `${hashOf(small)}0`]) {
      for (const answer of [await get(`/cas/${hash}`), await put(`/cas/${hash}`, small)]) {
        expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('is not a hash')])
      }
    }
    for (const instance of ['blobs', 'a/uploads/b', 'a%00b', 'a/%2E%2E%2Fb', 'a//b']) {
      const answer = await raw(`GET /${instance}/cas/${hashOf(small)}`)
      expect([instance, answer.status, answer.body]).toEqual([instance, 400, expect.stringContaining('instance name')])
    }
  })
})

describe('PUT', () => {
  test('bytes that do not match their hash are refused with 400 and not stored', async () => {
    for (const bytes of [small, big]) {
      const digest = digestOf(Buffer.concat([bytes, Buffer.from('!')]))
      const answer = await put(`/cas/${digest.hash}`, bytes)
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('do not match the digest')])
      expect(await store.find('sha256', digest.hash)).toBeUndefined()
    }
  })

  test('a chunked upload must state its size in X-Digest-SizeBytes, or is refused with 411', async () => {
    const bytes = Buffer.from('in chunks')
    const path = `PUT /cas/${hashOf(bytes)}`
    const body = `${bytes.length.toString(16)}\r\n${bytes}\r\n0\r\n\r\n`
    const chunked = ['Transfer-Encoding: chunked']
    const unsaid = await raw(path, chunked, body)
    expect([unsaid.status, unsaid.body]).toEqual([411, expect.stringContaining('send Content-Length')])
    expect((await raw(path, [...chunked, 'X-Digest-SizeBytes: 8'], body)).status).toBe(400)
    expect((await raw(path, [...chunked, 'X-Digest-SizeBytes: eight'], body)).status).toBe(400)
    expect((await raw(path, [...chunked, `X-Digest-SizeBytes: ${bytes.length}`], body)).status).toBe(200)
    expect(await holds(store, digestOf(bytes))).toBe(true)
  })

  test('two different sizes in the headers are refused with 400', async () => {
    const bytes = Buffer.from('two sizes')
    const answer = await put(`/cas/${hashOf(bytes)}`, bytes, { 'x-digest-sizebytes': '5' })
    expect([answer.status, await answer.text()]).toEqual([
      400,
      'X-Digest-SizeBytes says 5 bytes and Content-Length 9\n',
    ])
  })

  test('an upload that breaks off is not stored', async () => {
    const bytes = random.bytes(200_000)
    const socket = await openRaw(cache.address)
    socket.write(`PUT /cas/${hashOf(bytes)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n`)
    socket.end(bytes.subarray(0, 150_000))
    await untilClosed(socket)
    expect(await store.find('sha256', hashOf(bytes))).toBeUndefined()
  })

  test('a blob is accepted with any content type, as ccache, sccache and Gradle send them', async () => {
    for (const type of ['application/octet-stream', 'application/x-www-form-urlencoded', 'application/json']) {
      const bytes = Buffer.from(`a blob sent as ${type}`)
      expect((await put(`/cas/${hashOf(bytes)}`, bytes, { 'content-type': type })).status).toBe(200)
      expect(await store.find('sha256', hashOf(bytes))).toMatchObject({ size: bytes.length })
    }
  })

  test('a foreign Origin and a foreign Host are refused with 403, and nothing is stored', async () => {
    const bytes = Buffer.from('from elsewhere')
    const path = `/cas/${hashOf(bytes)}`
    expect((await put(path, bytes, { origin: 'https://evil.example' })).status).toBe(403)
    expect(
      (await askRaw(cache.address, [`GET ${path} HTTP/1.1`, 'Host: evil.example', 'Connection: close'])).status,
    ).toBe(403)
    const preflight = await fetch(`${cache.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'PUT' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
    expect(await holds(store, digestOf(bytes))).toBe(false)
  })

  test('a blob above the size limit is refused with 413 by its headers', async () => {
    const answer = await raw(`PUT /cas/${hashOf(small)}`, ['Content-Length: 9999999999999'], 'x')
    expect(answer.status).toBe(413)
    expect(
      (
        await raw(
          `PUT /cas/${hashOf(small)}`,
          [`X-Digest-SizeBytes: ${2 ** 41}`, 'Transfer-Encoding: chunked'],
          '1\r\nx\r\n0\r\n\r\n',
        )
      ).status,
    ).toBe(413)
  })
})

describe('Range', () => {
  test('only the requested range is sent, with 206', async () => {
    for (const bytes of [small, big]) {
      await put(`/cas/${hashOf(bytes)}`, bytes)
      const { length } = bytes
      for (const [range, first, last] of [
        ['bytes=0-9', 0, 9],
        ['bytes=500-', 500, length - 1],
        ['bytes=-7', length - 7, length - 1],
      ] as const) {
        const answer = await get(`/cas/${hashOf(bytes)}`, { range })
        expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/${length}`])
        expect(answer.headers.get('content-length')).toBe(String(last - first + 1))
        expect((await bytesIn(answer)).equals(bytes.subarray(first, last + 1))).toBe(true)
      }
    }
  })

  test('a range past the end is 416 with the size of the blob', async () => {
    await put(`/cas/${hashOf(small)}`, small)
    const answer = await get(`/cas/${hashOf(small)}`, { range: 'bytes=1000-' })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */1000'])
  })

  test('If-Range with another ETag returns the whole blob', async () => {
    await put(`/cas/${hashOf(small)}`, small)
    const ask = (condition: string) => get(`/cas/${hashOf(small)}`, { range: 'bytes=0-9', 'if-range': condition })
    expect((await ask('"other"')).status).toBe(200)
    expect((await ask(`"${hashOf(small)}"`)).status).toBe(206)
  })
})

describe('zstd', () => {
  test('a blob uploaded as zstd is stored as received and sent unchanged to clients that accept zstd', async () => {
    const zstd = zstdCompressSync(text)
    const path = `/cas/${hashOf(text)}`
    expect((await put(path, zstd, { 'content-encoding': 'zstd' })).status).toBe(200)
    expect((await streamOf(store, digestOf(text), { offset: 0, acceptZstd: true }))?.form).toBe('zstd')
    const packed = await raw(`GET ${path}`, ['Accept-Encoding: gzip, zstd'])
    expect([packed.headers['content-encoding'], packed.headers['content-length'], packed.headers.vary]).toEqual([
      'zstd',
      undefined,
      'Accept-Encoding',
    ])
    expect(zstdDecompressSync(unchunked(packed.body)).equals(text)).toBe(true)
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect((await bytesIn(plain)).equals(text)).toBe(true)
    const part = await get(path, { 'accept-encoding': 'zstd', range: 'bytes=10-19' })
    expect([part.status, await part.text()]).toEqual([206, text.subarray(10, 20).toString()])
  })

  test('zstd of several frames needs X-Digest-SizeBytes', async () => {
    const bytes = random.bytes(100_000)
    const zstd = Buffer.concat([zstdCompressSync(bytes.subarray(0, 500)), zstdCompressSync(bytes.subarray(500))])
    const path = `/cas/${hashOf(bytes)}`
    const coding = { 'content-encoding': 'zstd' }
    const wrong = await put(path, zstd, coding) // the size of the first frame is not the size of the blob
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('do not match')])
    expect((await put(path, zstd, { ...coding, 'x-digest-sizebytes': '100000' })).status).toBe(200)
    expect((await bytesIn(await get(path))).equals(bytes)).toBe(true)
  })

  test('data that is not zstd, or decompresses to another blob, is refused', async () => {
    const bytes = Buffer.from('never in zstd')
    for (const body of [bytes, zstdCompressSync(small), Buffer.alloc(0)]) {
      const answer = await put(`/cas/${hashOf(bytes)}`, body, { 'content-encoding': 'zstd' })
      expect([400, 411]).toContain(answer.status)
    }
    expect(await holds(store, digestOf(bytes))).toBe(false)
  })

  test('any other Content-Encoding is refused with 415', async () => {
    for (const coding of ['gzip', 'br', 'zstd, gzip', 'aws-chunked']) {
      const answer = await put(`/cas/${hashOf(small)}`, small, { 'content-encoding': coding })
      expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining('Content-Encoding: zstd')])
    }
  })
})

test('a full store answers 507 with Retry-After', async () => {
  const { store: packs } = await openOn(forgetfulFiles(), { maxBytes: 2_000_000 })
  const full = await testCache(packs.space(0))
  try {
    const answer = await fetch(`${full.url}/cas/${hashOf(big)}`, { method: 'PUT', body: Uint8Array.from(big) })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([507, '10'])
    expect(await answer.text()).toBe('storage for blobs is exhausted; retry in 10000 ms\n')
    expect(
      (await fetch(`${full.url}/cas/${hashOf(small)}`, { method: 'PUT', body: Uint8Array.from(small) })).status,
    ).toBe(200)
  } finally {
    await full.close()
    await packs.close()
  }
})

describe('GET whose client does not read', () => {
  const size = 2 ** 30
  let state = { opened: 0, pieces: 0, ended: 0, answered: 0 }
  const meter = { started: () => () => void state.answered++ }
  async function* large(): AsyncGenerator<Uint8Array> {
    try {
      for (let sent = 0; sent < size; sent += 2 ** 19, state.pieces++) yield Buffer.alloc(2 ** 19)
    } finally {
      state.ended++
    }
  }
  let huge: TestCache
  beforeAll(async () => {
    const endless: BlobStore = {
      ...memoryStore(),
      find: (fn, hash) => ({ fn, hash, size }),
      async read() {
        state.opened++
        return { form: 'identity', pieces: large() }
      },
    }
    huge = await testCache(endless, { door: { meter } })
  })
  afterAll(() => huge.close())

  const asking = `GET /cas/${hashOf(small)} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  /** Sends requests without reading responses, and returns when no more pieces are read. */
  async function ask(requests: number): Promise<Socket> {
    state = { opened: 0, pieces: 0, ended: 0, answered: 0 }
    const socket = await openRaw(huge.address)
    socket.pause()
    socket.write(asking.repeat(requests))
    for (let before = -1; before !== state.pieces || before === 0; ) {
      before = state.pieces
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return socket
  }

  test('at most 40 pieces are read from the store, and none after the client disconnects', async () => {
    const socket = await ask(1)
    expect(state.pieces).toBeLessThan(40) // the buffers of both sockets, and a few more
    socket.destroy()
    while (state.ended === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(state.pieces).toBeLessThan(40)
  })

  test('one blob is open at a time, with 500 pipelined requests on the connection', async () => {
    const socket = await ask(500)
    expect([state.opened, state.answered]).toEqual([1, 1])
    socket.destroy()
    while (state.ended === 0 || state.answered < 500) await new Promise((resolve) => setTimeout(resolve, 5))
    expect([state.opened, state.ended]).toEqual([1, 1])
  })
})

test.each([0, 1, 5, 20])(
  'a blob that fails after %i pieces closes the connection, so that no client takes it as complete',
  async (good) => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < good; i++) yield Buffer.alloc(2 ** 19)
      throw new FaultError({ kind: 'bug', why: 'data-loss', what: 'the bytes went bad' })
    }
    const warn = vi.fn()
    const bad: BlobStore = {
      ...memoryStore(),
      find: (fn, hash) => ({ fn, hash, size: 2 ** 24 }),
      read: async () => ({ form: 'identity', pieces: failing() }),
    }
    const failed = await testCache(bad, { log: { ...silentLog, warn } })
    try {
      const whole = fetch(`${failed.url}/cas/${hashOf(small)}`).then((answer) => answer.arrayBuffer())
      await expect(whole).rejects.toThrow()
      expect(warn).toHaveBeenCalledWith(expect.anything(), 'http cache response aborted')
    } finally {
      await failed.close()
    }
  },
)

test('pipelined requests are answered in order', async () => {
  const blobs = [random.bytes(300_000), random.bytes(10), random.bytes(200_000)]
  for (const bytes of blobs) await put(`/cas/${hashOf(bytes)}`, bytes)
  const socket = await openRaw(cache.address)
  const lines = blobs.map((bytes) => `GET /cas/${hashOf(bytes)} HTTP/1.1\r\nHost: localhost\r\n`)
  socket.write(`${lines.join('\r\n')}Connection: close\r\n\r\n`)
  const answers = await untilClosed(socket)
  const places = blobs.map((bytes) => answers.indexOf(bytes.toString('latin1')))
  expect(places.every((place, i) => place > (places[i - 1] ?? 0))).toBe(true)
})

test('requests are counted by route', async () => {
  answers.splice(0)
  await get(`/cas/${hashOf(small)}`)
  await get(`/team/linux/cas/${hashOf(small)}`)
  await get('/cas')
  expect(answers).toMatchObject([
    { route: '/cas/:hash', method: 'GET' },
    { route: '/:instance/cas/:hash', method: 'GET' },
    { route: 'unmatched', method: 'GET', status: 404 },
  ])
})

/** The body of a chunked response, from latin1. */
function unchunked(body: string): Buffer {
  const parts: string[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.slice(at, end), 16)
    if (!(length > 0)) return Buffer.from(parts.join(''), 'latin1')
    parts.push(body.slice(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
