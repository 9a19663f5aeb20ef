/** The examples of RFC 7541, appendix C, from C.2 on; the examples of C.1 are in integer.test.ts. */
import { describe, expect, test } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'
import type { HeaderField } from './header-field.ts'
import { HpackError } from './hpack-error.ts'

const decode = (decoder: HpackDecoder, hex: string): OutgoingField[] => {
  const block = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return decoder.decode(block, 0, block.length).fields.map(pair)
}

const pair = ({ name, value }: HeaderField): OutgoingField => [name, value]

/** The dynamic table, newest first, read by its indices. */
const tableOf = (decoder: HpackDecoder): OutgoingField[] => {
  const entries: OutgoingField[] = []
  for (;;) {
    try {
      entries.push(...decode(decoder, (0x80 + 62 + entries.length).toString(16)))
    } catch (error) {
      if (error instanceof HpackError) return entries
      throw error
    }
  }
}

const bytesOf = (entries: readonly OutgoingField[]): number =>
  entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)

const encode = (encoder: HpackEncoder, fields: readonly OutgoingField[]): string => {
  const target = Buffer.alloc(encodedBound(fields))
  return target.toString('hex', 0, encoder.encode(fields, target, 0))
}

const decoderOf = (maxTableBytes: number) => new HpackDecoder({ maxTableBytes, maxListBytes: 65536 })

describe('C.2: single representations', () => {
  test.each([
    [
      'C.2.1: to be indexed',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      ['custom-key', 'custom-header'],
      55,
    ],
    ['C.2.2: not indexed', '040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path'], 0],
    ['C.2.3: never indexed', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret'], 0],
    ['C.2.4: indexed', '82', [':method', 'GET'], 0],
  ] as const)('%s', (_, hex, field, tableBytes) => {
    const decoder = decoderOf(4096)
    expect(decode(decoder, hex)).toEqual([field])
    expect(bytesOf(tableOf(decoder))).toBe(tableBytes)
  })

  test('the encoder writes C.2.1 (with Huffman coding) and C.2.4', () => {
    expect(encode(new HpackEncoder(), [['custom-key', 'custom-header']])).toBe(
      '408825a849e95ba97d7f8925a849e95a728e42d9',
    )
    expect(encode(new HpackEncoder(), [[':method', 'GET']])).toBe('82')
  })
})

const AUTHORITY: OutgoingField = [':authority', 'www.example.com']
const NO_CACHE: OutgoingField = ['cache-control', 'no-cache']
const CUSTOM: OutgoingField = ['custom-key', 'custom-value']

const REQUESTS: readonly { fields: readonly OutgoingField[]; table: readonly OutgoingField[]; bytes: number }[] = [
  { fields: [[':method', 'GET'], [':scheme', 'http'], [':path', '/'], AUTHORITY], table: [AUTHORITY], bytes: 57 },
  {
    fields: [[':method', 'GET'], [':scheme', 'http'], [':path', '/'], AUTHORITY, NO_CACHE],
    table: [NO_CACHE, AUTHORITY],
    bytes: 110,
  },
  {
    fields: [[':method', 'GET'], [':scheme', 'https'], [':path', '/index.html'], AUTHORITY, CUSTOM],
    table: [CUSTOM, NO_CACHE, AUTHORITY],
    bytes: 164,
  },
]

const PLAIN_REQUESTS = [
  '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
  '8286 84be 5808 6e6f 2d63 6163 6865',
  '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
]

const HUFFMAN_REQUESTS = [
  '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
  '8286 84be 5886 a8eb 1064 9cbf',
  '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
]

describe.each([
  ['C.3: requests without Huffman code', PLAIN_REQUESTS],
  ['C.4: requests with Huffman code', HUFFMAN_REQUESTS],
])('%s', (_, blocks) => {
  test('decode to the expected fields and dynamic table', () => {
    const decoder = decoderOf(4096)
    for (const [i, { fields, table, bytes }] of REQUESTS.entries()) {
      expect(decode(decoder, blocks[i] as string)).toEqual(fields)
      expect(tableOf(decoder)).toEqual(table)
      expect(bytesOf(tableOf(decoder))).toBe(bytes)
    }
  })
})

test('the encoder writes C.4 byte for byte', () => {
  const encoder = new HpackEncoder()
  const blocks = REQUESTS.map(({ fields }) => encode(encoder, fields))
  expect(blocks).toEqual(HUFFMAN_REQUESTS.map((hex) => hex.replaceAll(' ', '')))
})

const PRIVATE: OutgoingField = ['cache-control', 'private']
const DATE_21: OutgoingField = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT']
const DATE_22: OutgoingField = ['date', 'Mon, 21 Oct 2013 20:13:22 GMT']
const LOCATION: OutgoingField = ['location', 'https://www.example.com']
const GZIP: OutgoingField = ['content-encoding', 'gzip']
const COOKIE: OutgoingField = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1']

const RESPONSES: typeof REQUESTS = [
  {
    fields: [[':status', '302'], PRIVATE, DATE_21, LOCATION],
    table: [LOCATION, DATE_21, PRIVATE, [':status', '302']],
    bytes: 222,
  },
  {
    fields: [[':status', '307'], PRIVATE, DATE_21, LOCATION],
    table: [[':status', '307'], LOCATION, DATE_21, PRIVATE],
    bytes: 222,
  },
  {
    fields: [[':status', '200'], PRIVATE, DATE_22, LOCATION, GZIP, COOKIE],
    table: [COOKIE, GZIP, DATE_22],
    bytes: 215,
  },
]

const PLAIN_RESPONSES = [
  `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
   2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
  '4803 3330 37c1 c0bf',
  `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
   54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
   5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31`,
]

const HUFFMAN_RESPONSES = [
  `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
   2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
  '4883 640e ffc1 c0bf',
  `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
   77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
   9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
]

describe.each([
  ['C.5: responses without Huffman code', PLAIN_RESPONSES],
  ['C.6: responses with Huffman code', HUFFMAN_RESPONSES],
])('%s, in a table of 256 bytes', (_, blocks) => {
  test('decode to the expected fields and evict the expected entries', () => {
    const decoder = decoderOf(256)
    for (const [i, { fields, table, bytes }] of RESPONSES.entries()) {
      expect(decode(decoder, (blocks[i] as string).replaceAll('\n', ''))).toEqual(fields)
      expect(tableOf(decoder)).toEqual(table)
      expect(bytesOf(tableOf(decoder))).toBe(bytes)
    }
  })
})

test('the responses of C.5 and C.6 round-trip through our encoder, which does not index dates', () => {
  const encoder = new HpackEncoder()
  encoder.setMaxTableBytes(256)
  const decoder = decoderOf(4096)
  for (const { fields } of RESPONSES) expect(decode(decoder, encode(encoder, fields))).toEqual(fields)
  expect(tableOf(decoder)).toEqual([COOKIE, GZIP, [':status', '307'], LOCATION])
})
