import { describe, expect, test } from 'vitest'
import { decodeMessage, encodeMessage, metadataPairs, toBase64 } from './header-text.ts'
import { GrpcError } from './status.ts'

describe('the grpc-message codec', () => {
  test.each([
    ['plain text', 'plain text'],
    ['', ''],
    ['100%', '100%25'],
    ['two\nlines', 'two%0Alines'],
    ['naïve', 'na%C3%AFve'],
    ['箱', '%E7%AE%B1'],
    ['📦', '%F0%9F%93%A6'],
    ['~ !"#$&\'()', '~ !"#$&\'()'],
    ['\x7f', '%7F'],
  ])('encodes %j as %s and decodes it again', (text, coded) => {
    expect(encodeMessage(text)).toBe(coded)
    expect(decodeMessage(coded)).toBe(text)
  })

  test('round-trips every 13th code point from U+0000 to U+10FFF as printable ASCII', () => {
    for (let code = 0; code < 0x11000; code += 13) {
      if (code >= 0xd800 && code < 0xe000) continue
      const text = `<${String.fromCodePoint(code)}>`
      expect(encodeMessage(text)).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeMessage(encodeMessage(text))).toBe(text)
    }
  })

  test.each([
    ['%', '%'],
    ['50%', '50%'],
    ['%zz', '%zz'],
    ['%4', '%4'],
    ['%4x%41', '%4xA'],
    ['%c3%a9', 'é'],
    ['%ff', '\ufffd'],
    ['é%41', 'éA'],
  ])('leaves invalid percent escapes as they are: %s', (coded, text) => {
    expect(decodeMessage(coded)).toBe(text)
  })
})

describe('metadataPairs', () => {
  test('returns one field per value, with names in lower case', () => {
    expect(
      metadataPairs({ 'X-User': 'me', many: ['a', 'b'], 'data-bin': Buffer.from([1, 2, 3, 4]), none: [] }),
    ).toEqual([
      ['x-user', 'me'],
      ['many', 'a'],
      ['many', 'b'],
      ['data-bin', 'AQIDBA'],
    ])
  })

  test('trims spaces at both ends of a value, because HTTP does not transmit them', () => {
    expect(metadataPairs({ a: '  x y ' })).toEqual([['a', 'x y']])
  })

  test.each([
    'grpc-status',
    'grpc-anything',
    'GRPC-X',
    ':path',
    'content-type',
    'te',
    'host',
    'connection',
    'content-length',
  ])('rejects the name %s, which is reserved for gRPC or HTTP', (name) => {
    expect(() => metadataPairs({ [name]: 'x' })).toThrow(GrpcError)
  })

  test.each(['transfer-encoding', 'upgrade', 'keep-alive', 'proxy-connection'])(
    'rejects the name %s, which HTTP/2 forbids',
    (name) => {
      expect(() => metadataPairs({ [name]: 'x' })).toThrow(GrpcError)
    },
  )

  test.each(['', 'with blank', 'naïve', 'a:b', 'a\nb', 'a/b', 'a,b'])('rejects the invalid field name %j', (name) => {
    expect(() => metadataPairs({ [name]: 'x' })).toThrow(GrpcError)
  })

  test.each(['line\nbreak', 'nul\0', 'naïve', '\x7f', 'tab\t'])('rejects %j as a text value', (value) => {
    expect(() => metadataPairs({ name: value })).toThrow(GrpcError)
  })

  test('accepts bytes only under a name that ends in -bin, and only bytes under such a name', () => {
    expect(() => metadataPairs({ name: Buffer.from('x') })).toThrow(/-bin/)
    expect(() => metadataPairs({ 'name-bin': 'x' })).toThrow(/bytes/)
  })
})

describe('toBase64', () => {
  test('writes no padding', () => {
    expect(['', 'a', 'ab', 'abc', 'abcd'].map((text) => toBase64(Buffer.from(text)))).toEqual([
      '',
      'YQ',
      'YWI',
      'YWJj',
      'YWJjZA',
    ])
  })

  test('encodes only the bytes of the view, not its whole buffer', () => {
    expect(toBase64(new Uint8Array(Buffer.from('xabcx')).subarray(1, 4))).toBe('YWJj')
  })

  test('round-trips all byte values at lengths 0 to 255', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    for (let length = 0; length < 256; length++) {
      const part = bytes.subarray(0, length)
      expect(Buffer.from(toBase64(part), 'base64')).toEqual(part)
    }
  })
})
