import { expect, test } from 'vitest'
import { HpackError } from './hpack-error.ts'
import { decodeHuffman, encodeHuffman, huffmanLength } from './huffman.ts'
import { END_OF_STRING, HUFFMAN_CODES, HUFFMAN_LENGTHS } from './huffman-code.ts'

const decode = (hex: string): string => {
  const bytes = Buffer.from(hex, 'hex')
  const target = Buffer.alloc(2 * bytes.length + 1)
  return target.toString('latin1', 0, decodeHuffman(bytes, 0, bytes.length, target))
}

const encode = (text: string): string => {
  const target = Buffer.alloc(4 * text.length + 1)
  return target.toString('hex', 0, encodeHuffman(text, target, 0))
}

const bits = (...parts: readonly string[]): string => {
  const all = parts.join('')
  return Buffer.from(all.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []).toString('hex')
}

const codeOf = (symbol: number): string =>
  (HUFFMAN_CODES[symbol] as number).toString(2).padStart(HUFFMAN_LENGTHS[symbol] as number, '0')

test('the Huffman codes derived from the lengths are those of RFC 7541, appendix B', () => {
  const known = { 0: 0x1ff8, 1: 0x7fffd8, 9: 0xffffea, 10: 0x3ffffffc, 22: 0x3ffffffe, 32: 0x14, 43: 0x7fb, 47: 0x18 }
  const more = {
    48: 0x0,
    92: 0x7fff0,
    97: 0x3,
    122: 0x7b,
    127: 0xffffffc,
    192: 0x3ffffe0,
    255: 0x3ffffee,
    256: 0x3fffffff,
  }
  for (const [symbol, code] of Object.entries({ ...known, ...more })) expect(HUFFMAN_CODES[Number(symbol)]).toBe(code)
})

test('the Huffman code is complete: every bit sequence has a meaning', () => {
  expect(HUFFMAN_LENGTHS.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1)
})

test.each([
  ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
  ['no-cache', 'a8eb10649cbf'],
  ['custom-key', '25a849e95ba97d7f'],
  ['custom-value', '25a849e95bb8e8b4bf'],
  ['302', '6402'],
  ['307', '640eff'],
  ['private', 'aec3771a4b'],
  ['gzip', '9bd9ab'],
  ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
  ['https://www.example.com', '9d29ad171863c78f0b97c8e9ae82ae43d3'],
])('%s is Huffman-coded as in RFC 7541, appendix C', (text, hex) => {
  expect(encode(text)).toBe(hex)
  expect(huffmanLength(text)).toBe(hex.length / 2)
  expect(decode(hex)).toBe(text)
})

test('every byte value round-trips, alone and between other characters', () => {
  for (let byte = 0; byte < 256; byte++) {
    const text = String.fromCharCode(byte)
    expect(decode(encode(text))).toBe(text)
    expect(decode(encode(`a${text}Z${text}${text}0`))).toBe(`a${text}Z${text}${text}0`)
  }
})

test('an empty string encodes to zero bytes', () => {
  expect(encode('')).toBe('')
  expect(decode('')).toBe('')
})

test('padding of zero to seven one-bits is accepted', () => {
  // `0` has 5 bits, so 1 to 8 of them leave every possible remainder.
  for (let count = 1; count <= 8; count++) expect(decode(encode('0'.repeat(count)))).toBe('0'.repeat(count))
})

test.each([
  ['eight ones of padding', bits(codeOf(0x26), '11111111')],
  ['eleven ones of padding', bits(codeOf(0x30), '11111111111')],
  ['nothing but a byte of padding', 'ff'],
  ['padding with a zero in it', bits(codeOf(0x30), '110')],
  ['padding of zeros', bits(codeOf(0x21), '000000')],
  ['a code that is cut off', bits(codeOf(0x5c).slice(0, 16))],
])('decodeHuffman throws HpackError: %s', (_, hex) => {
  expect(() => decode(hex)).toThrow(HpackError)
})

test('the end-of-string symbol throws HpackError at the start, in the middle and before other symbols', () => {
  expect(() => decode(bits(codeOf(END_OF_STRING), '11'))).toThrow(/end-of-string/)
  expect(() => decode(bits(codeOf(0x30), codeOf(END_OF_STRING), codeOf(0x30)))).toThrow(/end-of-string/)
  expect(() => decode(bits(codeOf(END_OF_STRING), codeOf(0x20), codeOf(0x20), '111111'))).toThrow(/end-of-string/)
})
