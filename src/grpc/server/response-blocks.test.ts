import { describe, expect, test } from 'vitest'
import { HpackDecoder } from '../hpack/decoder.ts'
import { STATUS } from '../status.ts'
import { errorTrailers, literals, ResponseBlocks } from './response-blocks.ts'

/** Decodes several blocks with one dynamic table. */
function client(maxTableBytes = 4096) {
  const decoder = new HpackDecoder({ maxTableBytes, maxListBytes: 1 << 20 })
  return (block: Uint8Array): string[] =>
    decoder.decode(block, 0, block.length).fields.map(({ name, value }) => `${name}: ${value}`)
}

const HEAD = [':status: 200', 'content-type: application/grpc']
const OK = ['grpc-status: 0']

describe('ResponseBlocks', () => {
  test('writes headers of two bytes and trailers of one byte from the second response on', () => {
    const blocks = new ResponseBlocks()
    const read = client()
    for (let i = 0; i < 5; i++) {
      const [head, ok] = [blocks.head(), blocks.ok()]
      expect([read(head), read(ok)]).toEqual([HEAD, OK])
      if (i > 0) expect([head.length, ok.length]).toEqual([2, 1])
    }
  })

  test('can be decoded when three headers come before the first trailers', () => {
    const blocks = new ResponseBlocks()
    const read = client()
    for (let i = 0; i < 3; i++) expect(read(blocks.head())).toEqual(HEAD)
    for (let i = 0; i < 3; i++) expect(read(blocks.ok())).toEqual(OK)
    for (let i = 0; i < 3; i++) expect(read(blocks.head())).toEqual(HEAD)
  })

  test('can be decoded in any order that begins with headers', () => {
    const kinds = [
      (blocks: ResponseBlocks) => [blocks.head(), HEAD] as const,
      (blocks: ResponseBlocks) => [blocks.ok(), OK] as const,
      (blocks: ResponseBlocks) => [blocks.headWith({ a: 'b' }), [...HEAD, 'a: b']] as const,
      (blocks: ResponseBlocks) => [blocks.okWith({ c: 'd' }), [...OK, 'c: d']] as const,
      (blocks: ResponseBlocks) => [blocks.headAnd(literals([['x', 'y']])), [...HEAD, 'x: y']] as const,
      (blocks: ResponseBlocks) => [blocks.other(literals([[':status', '405']])), [':status: 405']] as const,
    ]
    for (let order = 0; order < kinds.length ** 4; order++) {
      const blocks = new ResponseBlocks()
      const read = client()
      expect(read(blocks.head())).toEqual(HEAD)
      for (let rest = order, i = 0; i < 4; i++, rest = Math.floor(rest / kinds.length)) {
        const [block, fields] = (kinds[rest % kinds.length] as (typeof kinds)[number])(blocks)
        expect(read(block)).toEqual(fields)
      }
    }
  })
})

describe('ResponseBlocks for a peer with a smaller table', () => {
  test.each([0, 1, 100, 4095])('of %d bytes sends literals, and one table size update', (bytes) => {
    const blocks = new ResponseBlocks()
    const read = client()
    blocks.peerTableBytes(bytes)
    const first = blocks.head()
    expect(first[0]).toBe(0x20)
    expect([read(first), read(blocks.ok()), read(blocks.head()), read(blocks.ok())]).toEqual([HEAD, OK, HEAD, OK])
    expect(blocks.head()[0]).not.toBe(0x20)
  })

  test('sends the table size update in the next block, of any kind', () => {
    for (let before = 0; before < 4; before++) {
      const blocks = new ResponseBlocks()
      const read = client()
      for (let i = 0; i < before; i++) read(i % 2 === 0 ? blocks.head() : blocks.ok())
      blocks.peerTableBytes(0)
      blocks.peerTableBytes(0)
      expect(
        read(before % 2 === 0 ? blocks.headAnd(literals([['x', 'y']])) : blocks.other(literals([['x', 'y']]))),
      ).toContain('x: y')
      expect([read(blocks.ok()), read(blocks.head()), read(blocks.ok())]).toEqual([OK, HEAD, OK])
    }
  })

  test('still sends literals when the peer raises its table size again', () => {
    const blocks = new ResponseBlocks()
    const read = client()
    blocks.peerTableBytes(0)
    expect(read(blocks.head())).toEqual(HEAD)
    blocks.peerTableBytes(65_536)
    expect([read(blocks.ok()), read(blocks.head())]).toEqual([OK, HEAD])
  })
})

describe('ResponseBlocks with invalid metadata', () => {
  test('throws, and keeps the table in sync', () => {
    const blocks = new ResponseBlocks()
    const read = client()
    expect(() => blocks.headWith({ 'no name': 'x' })).toThrow()
    expect(read(blocks.head())).toEqual(HEAD)
    expect(() => blocks.okWith({ 'no name': 'x' })).toThrow()
    expect(read(blocks.ok())).toEqual(OK)
    expect([read(blocks.head()), read(blocks.ok())]).toEqual([HEAD, OK])
  })
})

describe('errorTrailers', () => {
  const read = client()

  test('contain the status code and the percent-encoded message', () => {
    expect(read(errorTrailers(STATUS.notFound, 'naïve', {}))).toEqual(['grpc-status: 5', 'grpc-message: na%C3%AFve'])
    expect(read(errorTrailers(STATUS.aborted, '', {}))).toEqual(['grpc-status: 10'])
  })

  test('contain details as base64, and custom trailers', () => {
    const init = { details: Buffer.from([8, 5]), trailers: { 'x-why': 'so', 'more-bin': Buffer.from('abc') } }
    expect(read(errorTrailers(STATUS.internal, 'm', init))).toEqual([
      'grpc-status: 13',
      'grpc-message: m',
      'grpc-status-details-bin: CAU',
      'x-why: so',
      'more-bin: YWJj',
    ])
  })

  test.each(['m', 'é', '箱', '📦', '\n'])('are under 8 KiB when the message is 100,000 times %j', (character) => {
    expect(errorTrailers(STATUS.internal, character.repeat(100_000), {}).length).toBeLessThan(8192)
  })
})

describe('literals', () => {
  test('with values of 0 to 70,000 bytes can be decoded', () => {
    for (const length of [0, 1, 126, 127, 128, 254, 255, 256, 16_383, 16_510, 16_511, 70_000]) {
      expect(client()(literals([['name', 'v'.repeat(length)]]))).toEqual([`name: ${'v'.repeat(length)}`])
    }
  })
})
