import { describe, expect, test } from 'vitest'
import { HpackDecoder } from './decoder.ts'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'
import { FIELD, type HeaderList } from './header-field.ts'
import { HpackError } from './hpack-error.ts'

const newDecoder = (limits: { maxTableBytes?: number; maxListBytes?: number } = {}) =>
  new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 16384, ...limits })

type Part = number | string

/** Numbers are bytes; a string is its characters, behind their count. */
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

describe('a block', () => {
  test('is read between its bounds, whatever lies around it', () => {
    const bytes = Buffer.concat([Buffer.of(0x00, 0x80), block(0x82, 0x04, '/a'), Buffer.of(0x80, 0x3f)])
    expect(pairs(newDecoder().decode(bytes, 2, bytes.length - 2))).toEqual([':method: GET', ':path: /a'])
  })

  test('may be a plain Uint8Array', () => {
    const bytes = Uint8Array.from(block(0x40, 'x-y', 'z'.repeat(300)))
    expect(pairs(newDecoder().decode(bytes, 0, bytes.length))).toEqual([`x-y: ${'z'.repeat(300)}`])
  })

  test('may be empty', () => {
    const list = { fields: [], bytes: 0, overflowed: false, understood: undefined }
    expect(decode(newDecoder())).toEqual(list)
  })

  test('counts its bytes as the peer is told to', () => {
    expect(decode(newDecoder(), 0x82, 0x00, 'name', 'value').bytes).toBe(7 + 3 + 32 + 4 + 5 + 32)
  })

  test('holds the fields of the tables themselves, not copies', () => {
    const decoder = newDecoder()
    const [method, path] = decode(decoder, 0x82, 0x44, '/a').fields
    expect(decode(decoder, 0xbe, 0x82).fields).toEqual([path, method])
    expect(decode(decoder, 0xbe).fields[0]).toBe(path)
  })

  test('may have a string longer than any before it', () => {
    for (const length of [4095, 4096, 4097, 9000, 16000]) {
      const value = 'q'.repeat(length)
      expect(decode(newDecoder({ maxListBytes: 65536 }), 0x00, 'x', value).fields[0]?.value).toBe(value)
    }
  })

  test('may have a Huffman string of any length, though it grows as it is decoded', () => {
    const decoder = newDecoder({ maxListBytes: 1 << 20 })
    for (let length = 1000; length < 100_000; length = Math.ceil(length * 1.1)) {
      const fields: OutgoingField[] = [['x-bin', '0'.repeat(length)]] // five bits a character
      const target = Buffer.alloc(encodedBound(fields))
      const end = new HpackEncoder().encode(fields, target, 0)
      expect(end).toBeLessThan(0.7 * length)
      expect(decoder.decode(target, 0, end).fields[0]?.value).toBe(fields[0]?.[1])
    }
  })

  test('keeps bytes beyond ASCII as Latin-1', () => {
    const [field] = decode(newDecoder(), 0x00, 'x', 'caf\u00e9\u0080\u00ff').fields
    expect(field).toMatchObject({ value: 'caf\u00e9\u0080\u00ff', kind: FIELD.regular })
  })
})

describe('a literal', () => {
  test('takes its name from the table, even from an entry that it pushes out', () => {
    const decoder = newDecoder({ maxTableBytes: 64 })
    decode(decoder, 0x40, 'x-name', 'first')
    expect(pairs(decode(decoder, 0x7e, 'another value'))).toEqual(['x-name: another value'])
    expect(pairs(decode(decoder, 0xbe))).toEqual(['x-name: another value'])
    expect(() => decode(decoder, 0xbf)).toThrow(HpackError)
  })

  test('that is not to be indexed leaves the table alone', () => {
    const decoder = newDecoder()
    expect(pairs(decode(decoder, 0x00, 'a', 'b', 0x10, 'c', 'd', 0x01, 'e', 0x11, 'f'))).toEqual([
      'a: b',
      'c: d',
      ':authority: e',
      ':authority: f',
    ])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('larger than the table empties it, and is a field all the same', () => {
    const decoder = newDecoder({ maxTableBytes: 100 })
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0x40, 'c', 'd'.repeat(100)))).toEqual([`c: ${'d'.repeat(100)}`])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('gets its kind from its name, spelled out or indexed, known or not', () => {
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

  test('that is malformed is a marked field and no error', () => {
    const parts = [0x00, 'Upper', 'v', 0x00, ':odd', 'v', 0x00, 'x', 'a\nb', 0x00, 'x', ' a', 0x00, '', 'v'] as const
    const { fields } = decode(newDecoder(), ...parts, 0x00, 'connection', 'close', 0x00, 'x', 'ok')
    expect(fields.map(({ kind }) => kind)).toEqual([15, 15, 15, 15, 15, 15, FIELD.regular])
  })

  test('of a static name that must not be sent is malformed', () => {
    expect(decode(newDecoder(), 0x80 + 57).fields[0]).toMatchObject({
      name: 'transfer-encoding',
      kind: FIELD.malformed,
    })
  })
})

describe('a decoding error', () => {
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
  ])('is %s', (_, ...parts) => {
    expect(() => decode(newDecoder(), ...parts)).toThrow(HpackError)
  })
})

describe('the size of the table', () => {
  test('is changed at the start of a block, twice at most', () => {
    const decoder = newDecoder()
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0x20, 0x3f, 0xe1, 0x1f, 0x82))).toEqual([':method: GET'])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
    decode(decoder, 0x40, 'a', 'b')
    expect(pairs(decode(decoder, 0xbe))).toEqual(['a: b'])
  })

  test('may be all that a block is about', () => {
    expect(decode(newDecoder(), 0x20).fields).toEqual([])
  })

  test('is 4096 until the peer claims the more that we offer', () => {
    const decoder = newDecoder({ maxTableBytes: 8192, maxListBytes: 1 << 20 })
    const fill = [0x40, 'a', 'x'.repeat(4000), 0x40, 'b', 'y'.repeat(4000)] as const
    decode(decoder, ...fill)
    expect(() => decode(decoder, 0xbf)).toThrow(HpackError)
    decode(decoder, 0x3f, 0xe1, 0x3f, ...fill)
    expect(decode(decoder, 0xbf).fields[0]?.name).toBe('a')
  })

  test('may be nothing at all', () => {
    const decoder = newDecoder({ maxTableBytes: 0 })
    expect(pairs(decode(decoder, 0x40, 'a', 'b'))).toEqual(['a: b'])
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
    expect(() => decode(newDecoder({ maxTableBytes: 0 }), 0x21)).toThrow(HpackError)
  })
})

describe('a list over the limit', () => {
  test('is cut where it passes it, and takes nothing that comes later', () => {
    const list = decode(newDecoder({ maxListBytes: 120 }), 0x82, 0x82, 0x00, 'name', 'value', 0x82)
    expect(pairs(list)).toEqual([':method: GET', ':method: GET'])
    expect(list).toMatchObject({ overflowed: true, bytes: 42 + 42 + 41 + 42 })
  })

  test('may reach the limit exactly', () => {
    expect(decode(newDecoder({ maxListBytes: 84 }), 0x82, 0x82)).toMatchObject({ overflowed: false, bytes: 84 })
    expect(decode(newDecoder({ maxListBytes: 83 }), 0x82, 0x82)).toMatchObject({ overflowed: true, bytes: 84 })
  })

  test('leaves the table in step with the peer', () => {
    const decoder = newDecoder({ maxListBytes: 100 })
    const cut = decode(decoder, 0x40, 'big', 'x'.repeat(200), 0x40, 'a', 'b', 0x00, 'c', 'd', 0x7f, 0x00, 'again')
    expect(cut).toMatchObject({ fields: [], overflowed: true })
    expect(pairs(decode(decoder, 0xbe, 0xbf))).toEqual(['big: again', 'a: b'])
    expect(decode(decoder, 0xc0)).toMatchObject({ overflowed: true, bytes: 235 })
  })

  test('still empties the table for a field that is larger than both', () => {
    const decoder = newDecoder({ maxTableBytes: 200, maxListBytes: 100 })
    decode(decoder, 0x40, 'a', 'b')
    expect(decode(decoder, 0x40, 'big', 'x'.repeat(200))).toMatchObject({ fields: [], overflowed: true, bytes: 235 })
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('is checked for errors to its end', () => {
    const decoder = newDecoder({ maxListBytes: 40 })
    expect(() => decode(decoder, 0x82, 0x00, 'x', 0x81, 0x00)).toThrow(HpackError)
    expect(() => decode(decoder, 0x82, 0x82, 0x80)).toThrow(HpackError)
  })

  test('made of many references to one large field stays small', () => {
    const decoder = newDecoder({ maxListBytes: 16384 })
    decode(decoder, 0x40, 'bomb', 'x'.repeat(4000))
    const bomb = Buffer.alloc(1 << 20, 0xbe)
    const before = process.cpuUsage()
    const list = decoder.decode(bomb, 0, bomb.length)
    // Processor time: on a busy machine the wall clock measures the others.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
    expect(list).toMatchObject({ overflowed: true, bytes: 4036 * (1 << 20) })
    expect(list.fields).toHaveLength(4)
  })
})

describe('a block of short indices', () => {
  const warm = (): HpackDecoder => {
    const decoder = newDecoder()
    decode(decoder, 0x40, 'a', '1', 0x40, 'b', '2')
    return decoder
  }

  test('gives the same list again, with what its reader left in it', () => {
    const decoder = warm()
    const list = decode(decoder, 0x82, 0xbe, 0xbf)
    list.understood = 'a request'
    expect(decode(decoder, 0x82, 0xbe, 0xbf)).toBe(list)
    expect(decode(decoder, 0x82, 0xbe, 0xbf).understood).toBe('a request')
    expect(pairs(decode(decoder, 0x82, 0xbf, 0xbe))).toEqual([':method: GET', 'a: 1', 'b: 2'])
  })

  test('is read anew after an insertion, for the same bytes now say something else', () => {
    const decoder = warm()
    const before = decode(decoder, 0x82, 0xbe)
    decode(decoder, 0x40, 'c', '3')
    expect(pairs(before)).toEqual([':method: GET', 'b: 2'])
    expect(pairs(decode(decoder, 0x82, 0xbe))).toEqual([':method: GET', 'c: 3'])
  })

  test('is an error when its entries have gone', () => {
    const decoder = warm()
    decode(decoder, 0xbe)
    decode(decoder, 0x20)
    expect(() => decode(decoder, 0xbe)).toThrow(HpackError)
  })

  test('is an error every time when it is one', () => {
    const decoder = warm()
    for (let i = 0; i < 3; i++) expect(() => decode(decoder, 0x82, 0xc0)).toThrow(HpackError)
  })

  test('is the only kind that is kept: literals make a new list each time', () => {
    const decoder = warm()
    for (const parts of [[0x82, 0x04, '/'], [0x20]] as const) {
      expect(decode(decoder, ...parts)).not.toBe(decode(decoder, ...parts))
    }
  })

  test('is one of many that are kept side by side', () => {
    const decoder = warm()
    const blocks = Array.from({ length: 12 }, (_, i) => [0x83, 0x86, 0xbe, 0x81 + i, 0xbf] as const)
    const lists = blocks.map((parts) => decode(decoder, ...parts))
    expect(blocks.map((parts) => decode(decoder, ...parts) === lists[blocks.indexOf(parts)])).not.toContain(false)
  })

  test('is right whether it is kept or too long to be', () => {
    const decoder = warm()
    for (const length of [31, 32, 33, 64]) {
      const bytes = Buffer.alloc(length, 0xbf)
      for (let i = 0; i < 2; i++) {
        expect(pairs(decoder.decode(bytes, 0, length))).toEqual(new Array<string>(length).fill('a: 1'))
      }
    }
  })
})

test('a client that indexes two new fields with every call is followed for ever', () => {
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

test('names that come spelled out are one string, however they are coded', () => {
  const [plain] = decode(newDecoder(), 0x00, 'custom-key', 'v').fields
  const huffman = Buffer.from('008825a849e95ba97d7f0176', 'hex')
  const [coded] = newDecoder().decode(huffman, 0, huffman.length).fields
  expect(coded).toEqual(plain)
})
