import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type DigestFunction, type DigestList } from '../../base/digest.ts'
import { BlobIndex, type BlobLocation } from './blob-index.ts'
import { tagOf } from './tag.ts'

/** A failure prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 60, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const SHA256 = tagOf(0, 'sha256')
const HERE: BlobLocation = { pack: 1, offset: 2, storedBytes: 3, flags: 4 }
const FAR: BlobLocation = { pack: 4e9, offset: 4e9 + 1, storedBytes: 2 ** 40 - 1, flags: 0xff }

const newIndex = (options = {}) => new BlobIndex({ seed: [1, 2], ...options })

/** Pseudorandom bytes, different for each number. */
function hashOf(number: number, width = 32): Uint8Array {
  const words = new Uint32Array(width / 4)
  for (let i = 0, mixed = number; i < words.length; i++) {
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ i, 0x85ebca6b) + number
    words[i] = mixed ^ (mixed >>> 13)
  }
  return new Uint8Array(words.buffer)
}

const put = (index: BlobIndex, number: number, location = HERE) =>
  index.insert(SHA256, hashOf(number), 0, 32, number, location, 9)
const has = (index: BlobIndex, number: number) => index.find(SHA256, hashOf(number), 0, 32, number) !== -1

test('a blob is found with its tag, size, location, flags and touch time', () => {
  const index = newIndex()
  const hash = hashOf(7, 64)
  const record = index.insert(0xfff, hash, 16, 32, 2 ** 48 - 1, FAR, 4e9 + 2)
  expect(index.find(0xfff, hash, 16, 32, 2 ** 48 - 1)).toBe(record)
  expect(index.tag(record)).toBe(0xfff)
  expect(index.size(record)).toBe(2 ** 48 - 1)
  expect([index.pack(record), index.offset(record), index.storedBytes(record)]).toEqual([4e9, 4e9 + 1, 2 ** 40 - 1])
  expect([index.flags(record), index.touch(record)]).toEqual([0xff, 4e9 + 2])
  const copy = new Uint8Array(40)
  index.copyHash(record, copy, 4)
  expect(copy.subarray(4, 36)).toEqual(hash.subarray(16, 48))
})

test('another size, another tag or another byte of the hash is another blob', () => {
  const index = newIndex()
  put(index, 5)
  const hash = hashOf(5)
  expect(index.find(SHA256, hash, 0, 32, 6)).toBe(-1)
  expect(index.find(SHA256, hash, 0, 32, 5 + 2 ** 32)).toBe(-1)
  expect(index.find(tagOf(1, 'sha256'), hash, 0, 32, 5)).toBe(-1)
  expect(index.find(tagOf(0, 'blake3'), hash, 0, 32, 5)).toBe(-1)
  for (let i = 0; i < 32; i++) {
    const other = hash.slice()
    other[i] = (other[i] as number) ^ 0x80
    expect(index.find(SHA256, other, 0, 32, 5)).toBe(-1)
  }
})

test('every pair of space and digest function has its own tag, and none is 0', () => {
  const fns = Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]
  const tags = new Set(fns.flatMap((fn) => Array.from({ length: 256 }, (_, space) => tagOf(space, fn))))
  expect(tags.size).toBe(256 * fns.length)
  expect([...tags].every((tag) => tag > 0 && tag <= 0xffff)).toBe(true)
})

test('insert throws RangeError for impossible sizes and offsets, and find returns -1', () => {
  const index = newIndex()
  index.insert(SHA256, hashOf(1), 0, 32, 0, HERE, 9)
  for (const size of [2 ** 48, 2 ** 64, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(index.find(SHA256, hashOf(1), 0, 32, size)).toBe(-1)
    expect(() => index.insert(SHA256, hashOf(1), 0, 32, size, HERE, 9)).toThrow(RangeError)
    const absent = new Uint8Array(1)
    index.missing(SHA256, listOf([hashOf(1)], [size]), absent, 10)
    expect(absent[0]).toBe(1)
  }
  expect(() => index.insert(0, hashOf(1), 0, 32, 1, HERE, 9)).toThrow('tag 0')
  expect(() => index.insert(SHA256, hashOf(1), 0, 32, 1, { ...HERE, storedBytes: 2 ** 40 }, 9)).toThrow(
    'bytes at 2 in pack 1',
  )
  expect(() => put(index, 2, { ...HERE, offset: 2 ** 32 })).toThrow(RangeError)
  expect(() => index.move(1, 1, 2 ** 32)).toThrow(RangeError)
  expect(index.count).toBe(1)
})

test('hashes of 16 to 64 bytes are stored; of longer ones the first 32 bytes count', () => {
  const index = newIndex()
  for (const [width, fn] of [
    [16, 'md5'],
    [20, 'sha1'],
    [32, 'sha256'],
    [48, 'sha384'],
    [64, 'sha512'],
  ] as const) {
    const hash = hashOf(1, width)
    const record = index.insert(tagOf(3, fn), hash, 0, width, 1, HERE, 9)
    expect(index.find(tagOf(3, fn), hash, 0, width, 1)).toBe(record)
    const absent = new Uint8Array(1)
    index.missing(tagOf(3, fn), listOf([hash], [1]), absent, 10)
    expect(absent[0]).toBe(0)
    const copy = new Uint8Array(32)
    index.copyHash(record, copy, 0)
    expect(copy.subarray(0, width)).toEqual(hash.subarray(0, 32))
    expect(copy.subarray(width)).toEqual(new Uint8Array(Math.max(0, 32 - width)))
  }
  expect(index.count).toBe(5)
})

test('inserting a blob again replaces its location and keeps its record', () => {
  const index = newIndex()
  const record = put(index, 1)
  expect(put(index, 1, { pack: 8, offset: 9, storedBytes: 10, flags: 11 })).toBe(record)
  expect([index.pack(record), index.offset(record), index.storedBytes(record)]).toEqual([8, 9, 10])
  expect(index.count).toBe(1)
})

test('a record can be moved, flagged and touched', () => {
  const index = newIndex()
  const record = put(index, 1, { ...HERE, storedBytes: 2 ** 39 + 5 })
  index.move(record, 20, 30)
  index.setFlags(record, 0xf1)
  index.setTouch(record, 40)
  expect([index.pack(record), index.offset(record), index.flags(record), index.touch(record)]).toEqual([
    20, 30, 241, 40,
  ])
  expect(index.storedBytes(record)).toBe(2 ** 39 + 5)
})

test('the records of removed blobs are reused', () => {
  const index = newIndex({ segmentRecords: 64 })
  for (let i = 0; i < 5000; i++) put(index, i)
  const before = index.memoryBytes
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 5000; i++) index.remove(index.find(SHA256, hashOf(i), 0, 32, i))
    expect(index.count).toBe(0)
    for (let i = 0; i < 5000; i++) put(index, i)
  }
  expect(index.memoryBytes).toBe(before)
  expect(index.count).toBe(5000)
})

test('removing a record that is not in use throws', () => {
  const index = newIndex()
  const record = put(index, 1)
  index.remove(record)
  for (const wrong of [record, 0, -1, 2, 1e6]) expect(() => index.remove(wrong)).toThrow('not in use')
})

test('missing reports absent blobs, and touches only those that are present', () => {
  const index = newIndex()
  const records = Array.from({ length: 1000 }, (_, i) => put(index, i))
  const numbers = Array.from({ length: 1500 }, (_, i) => i)
  const absent = new Uint8Array(1500).fill(7)
  index.missing(
    SHA256,
    listOf(
      numbers.map((i) => hashOf(i)),
      numbers,
    ),
    absent,
    50,
  )
  expect([...absent]).toEqual(numbers.map((i) => (i < 1000 ? 0 : 1)))
  expect(records.every((record) => index.touch(record) === 50)).toBe(true)
  index.missing(
    tagOf(1, 'sha256'),
    listOf(
      numbers.map((i) => hashOf(i)),
      numbers,
    ),
    absent,
    60,
  )
  expect(absent.every((one) => one === 1)).toBe(true)
  expect(records.every((record) => index.touch(record) === 50)).toBe(true)
})

test('missing reads hashes at any alignment of a buffer', () => {
  const index = newIndex()
  put(index, 3)
  for (let offset = 0; offset < 8; offset++) {
    const bytes = Buffer.alloc(offset + 32).subarray(offset)
    bytes.set(hashOf(3))
    const absent = new Uint8Array(1)
    index.missing(SHA256, { fn: 'sha256', width: 32, count: 1, hashes: bytes, sizes: Float64Array.of(3) }, absent, 1)
    expect(absent[0]).toBe(0)
  }
})

test('iterating in steps visits every blob once, and blobs may be removed during it', () => {
  const index = newIndex({ segmentRecords: 256 })
  for (let i = 0; i < 3000; i++) put(index, i)
  for (let i = 0; i < 3000; i += 3) index.remove(index.find(SHA256, hashOf(i), 0, 32, i))
  const seen: number[] = []
  for (let next = 0; next !== -1; ) {
    next = index.iterate(next, 70, (record) => {
      seen.push(index.size(record))
      index.remove(record)
    })
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 3000 }, (_, i) => i).filter((i) => i % 3 !== 0))
  expect(index.count).toBe(0)
  expect(newIndex().iterate(0, 100, () => expect.fail('nothing is there'))).toBe(-1)
})

test('similar hashes chosen by an attacker need at most 2% more memory than random ones', () => {
  /** Memory for 60,000 blobs over all spaces, with hashes set by `set`. */
  const memory = (set: (words: Uint32Array, i: number) => void): number => {
    const index = newIndex()
    for (let i = 0; i < 60_000; i++) {
      const words = new Uint32Array(8)
      set(words, i)
      index.insert(tagOf(i & 0xff, 'sha256'), new Uint8Array(words.buffer), 0, 32, 1, HERE, 9)
    }
    expect(index.count).toBe(60_000)
    return index.memoryBytes
  }
  const usual = memory((words, i) => words.set(new Uint32Array(hashOf(i).buffer)))
  const alike = [
    memory((words, i) => words.fill(i, 0, 1)),
    memory((words, i) => words.fill(i << 8, 7)),
    memory((words, i) => words.set([i << 16, i & 0xffff0000])),
  ]
  for (const bytes of alike) expect(bytes).toBeLessThan(usual * 1.02)
})

test('insert refuses one hash under more than 64 sizes, so that lookups stay fast', () => {
  const index = newIndex()
  for (let i = 0; i < 3000; i++) put(index, i)
  const insert = (size: number, tag = SHA256) => index.insert(tag, hashOf(5), 0, 32, size, HERE, 9)
  for (let size = 6; size < 69; size++) insert(size * 2 ** 20)
  for (const size of [1, 2 ** 40]) expect(insert(size)).toBe(-1)
  expect(index.count).toBe(3063)
  expect(insert(6 * 2 ** 20)).toBe(index.find(SHA256, hashOf(5), 0, 32, 6 * 2 ** 20))
  insert(1, tagOf(1, 'sha256'))
  for (let i = 0; i < 3000; i++) expect(has(index, i)).toBe(true)
  index.remove(index.find(SHA256, hashOf(5), 0, 32, 6 * 2 ** 20))
  expect(insert(1)).not.toBe(-1)
  for (const size of [5, 1, 68 * 2 ** 20]) expect(index.find(SHA256, hashOf(5), 0, 32, size)).not.toBe(-1)
})

test('a blob is found by its hash alone, under its tag only, until it is removed', () => {
  const index = newIndex()
  const records = Array.from({ length: 5000 }, (_, i) => put(index, i))
  const byHash = (hash: Uint8Array, tag = SHA256) => index.findByHash(tag, hash, 0, hash.length)
  for (const [i, record] of records.entries()) expect(byHash(hashOf(i))).toBe(record)
  expect([byHash(hashOf(5000)), byHash(hashOf(1), tagOf(1, 'sha256'))]).toEqual([-1, -1])
  index.remove(records[7] as number)
  expect(byHash(hashOf(7))).toBe(-1)
  for (const [width, fn] of [
    [16, 'md5'],
    [20, 'sha1'],
    [64, 'sha512'],
  ] as const) {
    const record = index.insert(tagOf(2, fn), hashOf(1, width), 0, width, 2 ** 40, HERE, 9)
    expect(byHash(hashOf(1, width), tagOf(2, fn))).toBe(record)
  }
})

test('an index made without a seed draws a random one', () => {
  const index = new BlobIndex()
  put(index, 1)
  expect([has(index, 1), has(index, 2)]).toEqual([true, false])
})

test('the segment size must be a power of two', () => {
  for (const segmentRecords of [0, 3, -4, 1.5]) expect(() => newIndex({ segmentRecords })).toThrow('power of two')
})

test('random inserts, removals and lookups give the same result as a Map', () => {
  const number = fc.nat(3000)
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('insert' as const), number, pack: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), number, pack: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('many' as const), number, pack: fc.nat(9) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.nat(), (steps, secret) => {
      const index = new BlobIndex({ seed: [secret, ~secret], segmentRecords: 32 })
      const model = new Map<number, number>()
      const remove = (n: number) => {
        const record = index.find(SHA256, hashOf(n), 0, 32, n)
        expect(record !== -1).toBe(model.has(n))
        if (record === -1) return
        expect(index.pack(record)).toBe(model.get(n))
        index.remove(record)
        model.delete(n)
      }
      for (const { do: what, number: n, pack } of steps) {
        // Many at once, so that groups grow: 501 blobs are inserted and every second one is removed.
        const last = what === 'many' ? n + 500 : n
        for (let i = n; i <= last && what !== 'remove'; i++) {
          put(index, i, { ...HERE, pack })
          model.set(i, pack)
        }
        for (let i = n; i <= last && what !== 'insert'; i += 2) remove(i)
      }
      expect(index.count).toBe(model.size)
      const seen = new Map<number, number>()
      index.iterate(0, 1e6, (record) => seen.set(index.size(record), index.pack(record)))
      expect(seen).toEqual(model)
      const numbers = Array.from({ length: 3500 }, (_, i) => i)
      const absent = new Uint8Array(3500)
      index.missing(
        SHA256,
        listOf(
          numbers.map((i) => hashOf(i)),
          numbers,
        ),
        absent,
        1,
      )
      expect(numbers.filter((i) => absent[i] === 0)).toEqual([...model.keys()].toSorted((a, b) => a - b))
    }),
  )
})

test('after 200,000 inserts and 100,000 removals every lookup is correct', () => {
  const index = newIndex()
  const bytes = new Uint8Array(32)
  const words = new Uint32Array(bytes.buffer)
  const name = (i: number) => {
    words[0] = Math.imul(i, 0x9e3779b1)
    words[5] = i
  }
  for (let i = 0; i < 200_000; i++) {
    name(i)
    index.insert(SHA256, bytes, 0, 32, i, HERE, 9)
  }
  for (let i = 0; i < 200_000; i += 2) {
    name(i)
    index.remove(index.find(SHA256, bytes, 0, 32, i))
  }
  let wrong = 0
  for (let i = 0; i < 200_000; i++) {
    name(i)
    const record = index.find(SHA256, bytes, 0, 32, i)
    if (i % 2 === 0 ? record !== -1 : record === -1 || index.size(record) !== i) wrong++
  }
  expect(wrong).toBe(0)
  expect(index.count).toBe(100_000)
})

function listOf(hashes: readonly Uint8Array[], sizes: readonly number[]): DigestList {
  const width = hashes[0]?.length ?? 32
  const flat = new Uint8Array(hashes.length * width)
  for (const [i, hash] of hashes.entries()) flat.set(hash, i * width)
  return { fn: 'sha256', width, count: hashes.length, hashes: flat, sizes: Float64Array.from(sizes) }
}
