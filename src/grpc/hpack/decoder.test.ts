import { describe, expect, test } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'
import { FIELD, type HeaderList } from './header-field.ts'
import { HpackError } from './hpack-error.ts'

const newDecoder = (limits: { maxTableBytes?: number; maxListBytes?: number } = {}) =>
  new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 16384, ...limits })

type Part = number | string

/** A number is one byte; a string is written as its length and its characters. */
const block = (...parts: readonly Part[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : literal(part))))

const literal = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const rest = bytes.length - 127
  return Buffer.concat([Buffer.of(127, (rest & 127) | 128, rest >>> 7), bytes])
}

const decode = (decoder: HpackDecoder, ...parts: readonly Part[]): HeaderList => {
  const bytes = block(...parts)
  return decoder.decode(bytes, 0, bytes.length)
}

const pairs = (list: HeaderList): string[] => list.fields.map(({ name, value }) => `${name}: ${value}`)

describe('HpackDecoder, header block', () => {
  test('reads only the bytes between start and end', () => {
    const bytes = Buffer.concat([Buffer.of(0x00, 0x80), block(0x82, 0x04, '/a'), Buffer.of(0x80, 0x3f)])
    expect(pairs(newDecoder().decode(bytes, 2, bytes.length - 2))).toEqual([':method: GET', ':path: /a'])
  })

  test('accepts a plain Uint8Array', () => {
    const bytes = Uint8Array.from(block(0x40, 'x-y', 'z'.repeat(300)))
    expect(pairs(newDecoder().decode(bytes, 0, bytes.length))).toEqual([`x-y: ${'z'.repeat(300)}`])
  })

  test('decodes an empty block to an empty list', () => {
    const list = { fields: [], bytes: 0, overflowed: false, understood: undefined }
    expect(decode(newDecoder())).toEqual(list)
  })

  test('counts name, value and 32 bytes per field, as RFC 7541 section 4.1 defines', () => {
    expect(decode(newDecoder(), 0x82, 0x00, 'name', 'value').bytes).toBe(7 + 3 + 32 + 4 + 5 + 32)
  })

  test('returns the field objects of the tables, not copies', () => {
    const decoder = newDecoder()
    const [method, path] = decode(decoder, 0x82, 0x44, '/a').fields
    expect(decode(decoder, 0xbe, 0x82).fields).toEqual([path, method])
    expect(decode(decoder, 0xbe).fields[0]).toBe(path)
  })

  test('decodes strings of 4,095 to 16,000 bytes', () => {
    for (const length of [4095, 4096, 4097, 9000, 16000]) {
      const value = 'q'.repeat(length)
      expect(decode(newDecoder({ maxListBytes: 65536 }), 0x00, 'x', value).fields[0]?.value).toBe(value)
    }
  })

  test('decodes Huffman strings of 1,000 to 100,000 characters, which are longer decoded than encoded', () => {
    const decoder = newDecoder({ maxListBytes: 1 << 20 })
    for (let length = 1000; length < 100_000; length = Math.ceil(length * 1.1)) {
      const fields: OutgoingField[] = [['x-bin', '0'.repeat(length)]] // 5 bits per character
      const target = Buffer.alloc(encodedBound(fields))
      const end = new HpackEncoder().encode(fields, target, 0)
      expect(end).toBeLessThan(0.7 * length)
      expect(decoder.decode(target, 0, end).fields[0]?.value).toBe(fields[0]?.[1])
    }
  })

  test('decodes bytes above 0x7f as Latin-1', () => {
    const [field] = decode(newDecoder(), 0x00, 'x', 'caf\u00e9\u0080\u00ff').fields
    expect(field).toMatchObject({ value: 'caf\u00e9\u0080\u00ff', kind: FIELD.regular })
  })
})

describe('HpackDecoder, literal field', () => {
  test('reads its name from the table, even from an entry that its own insertion evicts', () => {
    const decoder = newDecoder({ maxTableBytes: 64 })
    decode(decoder, 0x40, 'x-name', 'first')
    expect(pairs(decode(decoder, 0x7e, 'another value'))).toEqual(['x-name: another value'])
    expect(pairs(decode(decoder, 0xbe))).toEqual(['x-name: another value'])
    expect(() => decode(decoder, 0xbf)).toThrow(HpackError)
  })

  test('does not change the table when it is sent without indexing', () => {
    const decoder = newDecoder()
    expect(pairs(decode(decoder, 0x00, 'a', 'b', 0x10, 'c', 'd', 0x01, 'e', 0x11, 'f'))).toEqual([
      'a: b',
      'c: d',
      ':authority: e',
      ':authority: f',
    ])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('empties the table when it is larger than the table, and is still returned', () => {
    const decoder = newDecoder({ maxTableBytes: 100 })
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0x40, 'c', 'd'.repeat(100)))).toEqual([`c: ${'d'.repeat(100)}`])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('gets its kind from its name, literal or indexed', () => {
    const decoder = newDecoder()
    const kinds = (list: HeaderList) => list.fields.map(({ kind }) => kind)
    expect(kinds(decode(decoder, 0x40, 'grpc-timeout', '1S', 0x40, 'te', 'gzip'))).toEqual([
      FIELD.grpcTimeout,
      FIELD.malformed,
    ])
    expect(kinds(decode(decoder, 0x7e, 'trailers', 0x0f, 0x31, '2S'))).toEqual([FIELD.te, FIELD.grpcTimeout])
    expect(kinds(decode(decoder, 0x00, 'X-Upper', '1', 0x00, 'X-Upper', '2'))).toEqual([
      FIELD.malformed,
      FIELD.malformed,
    ])
  })

  test('is marked as malformed, without an error, when its name or value is invalid', () => {
    const parts = [0x00, 'Upper', 'v', 0x00, ':odd', 'v', 0x00, 'x', 'a\nb', 0x00, 'x', ' a', 0x00, '', 'v'] as const
    const { fields } = decode(newDecoder(), ...parts, 0x00, 'connection', 'close', 0x00, 'x', 'ok')
    expect(fields.map(({ kind }) => kind)).toEqual([15, 15, 15, 15, 15, 15, FIELD.regular])
  })

  test('is malformed when its static name is forbidden in HTTP/2', () => {
    expect(decode(newDecoder(), 0x80 + 57).fields[0]).toMatchObject({
      name: 'transfer-encoding',
      kind: FIELD.malformed,
    })
  })
})

describe('HpackDecoder, invalid block', () => {
  test.each<[string, ...Part[]]>([
    ['index 0', 0x80],
    ['an index behind the tables', 0xbe],
    ['an index far behind the tables', 0xff, 0xff, 0xff, 0x7f],
    ['a name index behind the tables', 0x7e, 'v'],
    ['a name index behind the tables, not to be indexed', 0x0f, 0x2f, 'v'],
    ['an integer of six bytes', 0xff, 0x80, 0x80, 0x80, 0x80, 0x00],
    ['an index that is cut off', 0x82, 0xff],
    ['a literal without a name', 0x40],
    ['a literal without a value', 0x40, 'name'],
    ['a name that is cut off', 0x40, 0x05, 0x61],
    ['a value that is cut off', 0x04, 0x03, 0x2f, 0x61],
    ['a Huffman value that is cut off', 0x04, 0x83, 0x60],
    ['Huffman padding of a whole byte', 0x04, 0x82, 0x07, 0xff],
    ['Huffman padding with a zero', 0x04, 0x81, 0x00],
    ['a Huffman end of string', 0x04, 0x84, 0xff, 0xff, 0xff, 0xff],
    ['a Huffman name with an end of string', 0x40, 0x84, 0xff, 0xff, 0xff, 0xff, 'v'],
    ['a size update over our limit', 0x3f, 0xe2, 0x1f],
    ['a size update behind a field', 0x82, 0x20],
    ['a size update at the end', 0x04, '/', 0x3f, 0x00],
    ['three size updates', 0x20, 0x20, 0x20],
    ['a size update that is cut off', 0x3f],
  ])('throws HpackError: %s', (_, ...parts) => {
    expect(() => decode(newDecoder(), ...parts)).toThrow(HpackError)
  })
})

describe('HpackDecoder, dynamic table size', () => {
  test('can be updated twice at the start of a block', () => {
    const decoder = newDecoder()
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0x20, 0x3f, 0xe1, 0x1f, 0x82))).toEqual([':method: GET'])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0xbe))).toEqual(['a: b'])
  })

  test('can be updated by a block without fields', () => {
    expect(decode(newDecoder(), 0x20).fields).toEqual([])
  })

  test('is 4,096 bytes until the peer sends an update up to the size that we advertised', () => {
    const decoder = newDecoder({ maxTableBytes: 8192, maxListBytes: 1 << 20 })
    const fill = [0x40, 'a', 'x'.repeat(4000), 0x40, 'b', 'y'.repeat(4000)] as const
    decode(decoder, ...fill)
    expect(() => decode(decoder, 0xbf)).toThrow(HpackError)
    decode(decoder, 0x3f, 0xe1, 0x3f, ...fill)
    expect(decode(decoder, 0xbf).fields[0]?.name).toBe('a')
  })

  test('can be 0: nothing is stored, and a larger update throws HpackError', () => {
    const decoder = newDecoder({ maxTableBytes: 0 })
    expect(pairs(decode(decoder, 0x40, 'a', 'b'))).toEqual(['a: b'])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
    expect(() => decode(newDecoder({ maxTableBytes: 0 }), 0x21)).toThrow(HpackError)
  })
})

describe('HpackDecoder, list over maxListBytes', () => {
  test('ends before the first field that exceeds the limit, and counts the bytes of all fields', () => {
    const list = decode(newDecoder({ maxListBytes: 120 }), 0x82, 0x82, 0x00, 'name', 'value', 0x82)
    expect(pairs(list)).toEqual([':method: GET', ':method: GET'])
    expect(list).toMatchObject({ overflowed: true, bytes: 42 + 42 + 41 + 42 })
  })

  test('overflows only when it exceeds the limit; a list of exactly that size does not', () => {
    expect(decode(newDecoder({ maxListBytes: 84 }), 0x82, 0x82)).toMatchObject({ overflowed: false, bytes: 84 })
    expect(decode(newDecoder({ maxListBytes: 83 }), 0x82, 0x82)).toMatchObject({ overflowed: true, bytes: 84 })
  })

  test('keeps the dynamic table in sync with the peer', () => {
    const decoder = newDecoder({ maxListBytes: 100 })
    const cut = decode(decoder, 0x40, 'big', 'x'.repeat(200), 0x40, 'a', 'b', 0x00, 'c', 'd', 0x7f, 0x00, 'again')
    expect(cut).toMatchObject({ fields: [], overflowed: true })
    expect(pairs(decode(decoder, 0xbe, 0xbf))).toEqual(['big: again', 'a: b'])
    expect(decode(decoder, 0xc0)).toMatchObject({ overflowed: true, bytes: 235 })
  })

  test('empties the table for a field larger than the table and the limit', () => {
    const decoder = newDecoder({ maxTableBytes: 200, maxListBytes: 100 })
    decode(decoder, 0x40, 'a', 'b')
    expect(decode(decoder, 0x40, 'big', 'x'.repeat(200))).toMatchObject({ fields: [], overflowed: true, bytes: 235 })
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('is checked for errors up to its last byte', () => {
    const decoder = newDecoder({ maxListBytes: 40 })
    expect(() => decode(decoder, 0x82, 0x00, 'x', 0x81, 0x00)).toThrow(HpackError)
    expect(() => decode(decoder, 0x82, 0x82, 0x80)).toThrow(HpackError)
  })

  test('keeps 4 fields and takes under 1 s of CPU for 1 Mi references to one large field', () => {
    const decoder = newDecoder({ maxListBytes: 16384 })
    decode(decoder, 0x40, 'bomb', 'x'.repeat(4000))
    const bomb = Buffer.alloc(1 << 20, 0xbe)
    const before = process.cpuUsage()
    const list = decoder.decode(bomb, 0, bomb.length)
    // CPU time, because wall time includes other processes on a busy machine.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
    expect(list).toMatchObject({ overflowed: true, bytes: 4036 * (1 << 20) })
    expect(list.fields).toHaveLength(4)
  })
})

describe('HpackDecoder, block of one-byte indices', () => {
  const warm = (): HpackDecoder => {
    const decoder = newDecoder()
    decode(decoder, 0x40, 'a', '1', 0x40, 'b', '2')
    return decoder
  }

  test('returns the same list object again, including its cached request', () => {
    const decoder = warm()
    const list = decode(decoder, 0x82, 0xbe, 0xbf)
    list.understood = 'a request'
    expect(decode(decoder, 0x82, 0xbe, 0xbf)).toBe(list)
    expect(decode(decoder, 0x82, 0xbe, 0xbf).understood).toBe('a request')
    expect(pairs(decode(decoder, 0x82, 0xbf, 0xbe))).toEqual([':method: GET', 'a: 1', 'b: 2'])
  })

  test('is decoded again after an insertion, because its indices now refer to other entries', () => {
    const decoder = warm()
    const before = decode(decoder, 0x82, 0xbe)
    decode(decoder, 0x40, 'c', '3')
    expect(pairs(before)).toEqual([':method: GET', 'b: 2'])
    expect(pairs(decode(decoder, 0x82, 0xbe))).toEqual([':method: GET', 'c: 3'])
  })

  test('throws HpackError after its entries were evicted', () => {
    const decoder = warm()
    decode(decoder, 0xbe)
    decode(decoder, 0x20)
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('throws HpackError at every decode when an index is out of range', () => {
    const decoder = warm()
    for (let i = 0; i < 3; i++) expect(() => decode(decoder, 0x82, 0xc0)).toThrow(HpackError)
  })

  test('is the only kind of block that is cached: a block with a literal gives a new list each time', () => {
    const decoder = warm()
    for (const parts of [[0x82, 0x04, '/'], [0x20]] as const) {
      expect(decode(decoder, ...parts)).not.toBe(decode(decoder, ...parts))
    }
  })

  test('stays cached beside 11 others', () => {
    const decoder = warm()
    const blocks = Array.from({ length: 12 }, (_, i) => [0x83, 0x86, 0xbe, 0x81 + i, 0xbf] as const)
    const lists = blocks.map((parts) => decode(decoder, ...parts))
    expect(blocks.map((parts) => decode(decoder, ...parts) === lists[blocks.indexOf(parts)])).not.toContain(false)
  })

  test('decodes correctly below and above the length limit of the cache', () => {
    const decoder = warm()
    for (const length of [31, 32, 33, 64]) {
      const bytes = Buffer.alloc(length, 0xbf)
      for (let i = 0; i < 2; i++) {
        expect(pairs(decoder.decode(bytes, 0, length))).toEqual(new Array<string>(length).fill('a: 1'))
      }
    }
  })
})

test('a decoder stays in sync over 2,000 blocks that each insert two new fields', () => {
  const decoder = newDecoder()
  const encoder = new HpackEncoder()
  for (let call = 0; call < 2000; call++) {
    const fields: OutgoingField[] = [
      [':method', 'POST'],
      [':path', '/a.B/C'],
      ['x-deadline', `${call}m`],
      ['x-trace', `${call}`.repeat(1 + (call % 90))],
    ]
    const target = Buffer.alloc(encodedBound(fields))
    const list = decoder.decode(target, 0, encoder.encode(fields, target, 0))
    expect(list.fields.map(({ name, value }) => [name, value])).toEqual(fields)
  }
})

test('a literal name gives the same field with and without Huffman coding', () => {
  const [plain] = decode(newDecoder(), 0x00, 'custom-key', 'v').fields
  const huffman = Buffer.from('008825a849e95ba97d7f0176', 'hex')
  const [coded] = newDecoder().decode(huffman, 0, huffman.length).fields
  expect(coded).toEqual(plain)
})
