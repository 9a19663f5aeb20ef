import { describe, expect, test } from 'vitest'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'

const encode = (encoder: HpackEncoder, ...fields: readonly OutgoingField[]): string => {
  const target = Buffer.alloc(encodedBound(fields))
  return target.toString('hex', 0, encoder.encode(fields, target, 0))
}

const plain = (text: string): string => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]).toString('hex')

describe('HpackEncoder, field', () => {
  test('is one byte when the static table has it', () => {
    expect(encode(new HpackEncoder(), [':status', '200'], [':method', 'POST'], [':scheme', 'https'])).toBe('888387')
  })

  test('is one byte from the second time on', () => {
    const encoder = new HpackEncoder()
    expect(encode(encoder, ['~', '^'])).toBe(`40${plain('~')}${plain('^')}`)
    expect(encode(encoder, ['~', '^'])).toBe('be')
    encode(encoder, ['^', '~'])
    expect(encode(encoder, ['~', '^'], ['^', '~'])).toBe('bfbe')
  })

  test('takes its name index from the static table, otherwise from the newest dynamic entry', () => {
    const encoder = new HpackEncoder()
    expect(encode(encoder, [':path', '^'])).toBe(`44${plain('^')}`)
    encode(encoder, ['~', '1^'], ['~', '2^'], ['x', 'y'])
    expect(encode(encoder, ['~', '3^'])).toBe(`7f00${plain('3^')}`)
  })

  test('is Huffman-coded only where that is shorter', () => {
    expect(encode(new HpackEncoder(), ['content-encoding', 'gzip'])).toBe('5a839bd9ab')
    expect(encode(new HpackEncoder(), [':status', '307'])).toBe(`48${plain('307')}`)
  })

  test.each(['grpc-timeout', 'grpc-message', 'grpc-status-details-bin', 'x-anything-bin'])(
    '%s is not indexed, because its value changes with every message',
    (name) => {
      const encoder = new HpackEncoder()
      const first = encode(encoder, [name, '1~'])
      expect(first.slice(0, 2)).toBe('00')
      expect(encode(encoder, [name, '1~'])).toBe(first)
    },
  )

  test('content-length and date are not indexed, but their names are sent as static indices', () => {
    const encoder = new HpackEncoder()
    for (let i = 0; i < 2; i++) {
      expect(encode(encoder, ['content-length', '7'])).toBe(`0f0d${plain('7')}`)
      expect(encode(encoder, ['date', '~'])).toBe(`0f12${plain('~')}`)
    }
  })

  test('authorization is sent as never indexed', () => {
    const encoder = new HpackEncoder()
    for (let i = 0; i < 2; i++) expect(encode(encoder, ['authorization', '~'])).toBe(`1f08${plain('~')}`)
    expect(encode(encoder, ['authorization', '~'.repeat(5000)]).slice(0, 4)).toBe('1f08')
  })

  test('is not indexed when it is larger than the table, which keeps its entries', () => {
    const encoder = new HpackEncoder()
    encode(encoder, ['~', '^'])
    expect(encode(encoder, ['x', '~'.repeat(4096)]).slice(0, 2)).toBe('00')
    expect(encode(encoder, ['~', '^'])).toBe('be')
  })

  test('is sent as a literal again after its eviction', () => {
    const encoder = new HpackEncoder()
    const first = encode(encoder, ['~', '^'])
    encode(encoder, ['x', '~'.repeat(4096 - 33 - 33)])
    expect(encode(encoder, ['~', '^'])).toBe(first)
  })
})

describe('HpackEncoder, dynamic table size', () => {
  test('is announced once, at the start of the next block', () => {
    const encoder = new HpackEncoder()
    encoder.setMaxTableBytes(100)
    expect(encode(encoder, [':status', '200'])).toBe('3f4588')
    expect(encode(encoder, [':status', '200'])).toBe('88')
  })

  test('is not announced when the peer allows more than the 4,096 bytes that we use', () => {
    const encoder = new HpackEncoder()
    encoder.setMaxTableBytes(4096)
    encoder.setMaxTableBytes(65536)
    expect(encode(encoder, [':status', '200'])).toBe('88')
  })

  test('is announced as the minimum and then the final size when it was lowered and raised between two blocks', () => {
    const encoder = new HpackEncoder()
    encode(encoder, ['~', '^'])
    encoder.setMaxTableBytes(100)
    encoder.setMaxTableBytes(0)
    encoder.setMaxTableBytes(4096)
    expect(encode(encoder, ['~', '^'])).toBe(`203fe11f40${plain('~')}${plain('^')}`)
  })

  test('is announced only as the final size when it was only lowered or only raised', () => {
    const encoder = new HpackEncoder()
    encoder.setMaxTableBytes(100)
    encoder.setMaxTableBytes(20)
    expect(encode(encoder)).toBe('34')
    encoder.setMaxTableBytes(25)
    encoder.setMaxTableBytes(30)
    expect(encode(encoder)).toBe('3e')
  })

  test('evicts the entries that no longer fit', () => {
    const encoder = new HpackEncoder()
    encode(encoder, ['~', '1^'], ['~', '2^'])
    encoder.setMaxTableBytes(40)
    expect(encode(encoder, ['~', '2^'], ['~', '1^'])).toBe(`3f09be7e${plain('1^')}`)
  })

  test('of 0 turns indexing off', () => {
    const encoder = new HpackEncoder()
    encoder.setMaxTableBytes(0)
    encode(encoder)
    expect(encode(encoder, ['~', '^'], ['~', '^'])).toBe(`00${plain('~')}${plain('^')}`.repeat(2))
  })
})

test('a block is written at the given offset and changes no byte outside it', () => {
  const target = Buffer.alloc(8, 0xaa)
  expect(
    new HpackEncoder().encode(
      [
        [':status', '200'],
        [':status', '404'],
      ],
      target,
      3,
    ),
  ).toBe(5)
  expect(target.toString('hex')).toBe('aaaaaa888daaaaaa')
})

test('encodedBound covers size updates, long names and long values', () => {
  const fields: OutgoingField[] = [
    ['\u0001'.repeat(200), '\u0001'.repeat(20000)],
    ['\u0001', ''],
  ]
  const encoder = new HpackEncoder()
  encoder.setMaxTableBytes(0)
  encoder.setMaxTableBytes(4096)
  const target = Buffer.alloc(2 * encodedBound(fields))
  expect(encoder.encode(fields, target, 0)).toBeLessThanOrEqual(encodedBound(fields))
})
