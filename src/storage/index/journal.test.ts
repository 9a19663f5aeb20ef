import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { BLOB_FLAGS } from './blob-flags.ts'
import { BlobIndex } from './blob-index.ts'
import { ENTRY, HEADER, JOURNAL_UNIT_BYTES, JournalWriter } from './journal-format.ts'
import { loadJournal } from './journal-loader.ts'
import { tagOf } from './tag.ts'

/** A failure prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 100, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const TAG = tagOf(3, 'sha1')

/** A minimal store: an index and the journal of its changes. */
let index: BlobIndex
let journal: JournalWriter

beforeEach(() => {
  index = new BlobIndex()
  journal = new JournalWriter()
})

const hashOf = (number: number): Uint8Array => new Uint8Array(new Uint32Array(5).fill(number * 0x01000193).buffer)
const find = (number: number, where = index) => where.find(TAG, hashOf(number), 0, 20, number)

function put(number: number, place: { pack?: number; offset?: number; storedBytes?: number; flags?: number } = {}) {
  const location = { pack: 1, offset: number, storedBytes: number, flags: 0, ...place }
  journal.put(index, index.insert(TAG, hashOf(number), 0, 20, number, location, 1))
}

function drop(number: number) {
  const record = find(number)
  journal.drop(index, record)
  index.remove(record)
}

function move(number: number, pack: number, offset: number) {
  const record = find(number)
  index.move(record, pack, offset)
  journal.move(index, record)
}

/** All fields of all blobs, sorted by size. */
function contents(of: BlobIndex): unknown[] {
  const blobs: { size: number }[] = []
  of.iterate(0, 1e9, (record) => {
    const hash = new Uint8Array(32)
    of.copyHash(record, hash, 0)
    const place = [of.pack(record), of.offset(record), of.storedBytes(record), of.flags(record)]
    blobs.push({ size: of.size(record), ...{ tag: of.tag(record), hash: Buffer.from(hash).toString('hex'), place } })
  })
  return blobs.toSorted((one, other) => one.size - other.size)
}

function load(...chunks: readonly Uint8Array[]) {
  const loaded = new BlobIndex({ segmentRecords: 64 })
  return { loaded, end: loadJournal(chunks, loaded, 77) }
}

test('puts, drops and moves are replayed, with the load time as touch time', () => {
  put(1)
  put(2, { pack: 4e9, offset: 4e9 + 1, storedBytes: 2 ** 40 - 1, flags: BLOB_FLAGS.zstd })
  put(2 ** 48 - 1, { offset: 1, storedBytes: 2 ** 32 })
  drop(1)
  put(3)
  move(3, 8, 9)
  const { loaded, end } = load(journal.take())
  expect(contents(loaded)).toEqual(contents(index))
  expect(loaded.touch(find(3, loaded))).toBe(77)
  expect(end).toMatchObject({ entries: 6, tornBytes: 0, damaged: false, closed: false, nextSequence: 1 })
})

test('flags of one opening of the store are not persisted', () => {
  put(1, { flags: BLOB_FLAGS.zstd | BLOB_FLAGS.checked | BLOB_FLAGS.unsynced })
  const { loaded } = load(journal.take())
  expect(loaded.flags(find(1, loaded))).toBe(BLOB_FLAGS.zstd)
})

test('a second put of a blob replaces its position', () => {
  put(1, { pack: 5 })
  put(1, { pack: 6, offset: 60 })
  const { loaded } = load(journal.take())
  expect(loaded.count).toBe(1)
  expect(loaded.pack(find(1, loaded))).toBe(6)
})

test("the journal records each pack's synced length and the offset of its last blob", () => {
  put(1, { pack: 1, offset: 10 })
  put(2, { pack: 1, offset: 30 })
  put(3, { pack: 2, offset: 0 })
  journal.synced(1, 20)
  drop(2)
  move(3, 3, 70)
  journal.synced(4, 5)
  journal.synced(4, 3)
  const { end } = load(journal.take())
  expect(Object.fromEntries(end.packs)).toEqual({
    1: { synced: 20, last: 30 },
    2: { synced: 0, last: 0 },
    3: { synced: 0, last: 70 },
    4: { synced: 5, last: -1 },
  })
})

test('removing a pack drops its blobs, except those moved out before', () => {
  put(1, { pack: 1 })
  put(2, { pack: 1 })
  put(3, { pack: 2 })
  move(2, 2, 9)
  journal.gone(1)
  const { loaded, end } = load(journal.take())
  expect([1, 2, 3].map((number) => find(number, loaded) !== -1)).toEqual([false, true, true])
  expect([...end.packs.keys()]).toEqual([2])
})

test('a snapshot in steps may be interleaved with changes', () => {
  for (let i = 1; i <= 100; i++) put(i)
  journal = new JournalWriter()
  let next = index.iterate(0, 50, (record) => journal.put(index, record))
  drop(10)
  drop(90)
  move(11, 2, 5)
  move(91, 2, 6)
  put(101)
  while (next !== -1) next = index.iterate(next, 50, (record) => journal.put(index, record))
  const { loaded } = load(journal.take())
  expect(contents(loaded)).toEqual(contents(index))
})

test('a journal counts as closed only if `closed` is its last entry', () => {
  put(1)
  journal.closed()
  const first = journal.take()
  expect(load(first).end.closed).toBe(true)
  expect(load(first, new Uint8Array(3)).end.closed).toBe(false)
  journal.opened()
  expect(load(first, journal.take()).end.closed).toBe(false)
})

test('a writer continues at the next sequence number of the loaded journal', () => {
  put(1)
  const first = journal.take()
  journal = new JournalWriter(load(first).end.nextSequence)
  put(2)
  const { loaded, end } = load(first, journal.take())
  expect([loaded.count, end.nextSequence, end.tornBytes]).toEqual([2, 2, 0])
})

test('a journal without entries writes no bytes', () => {
  expect(journal.bytes).toBe(0)
  expect(journal.take().length).toBe(0)
  expect(load().end).toMatchObject({ entries: 0, wholeBytes: 0, closed: false, nextSequence: 0 })
})

test('5,000 entries fill several blocks, and load in pieces of any length', () => {
  for (let i = 1; i <= 5000; i++) put(i)
  const promised = journal.bytes
  const bytes = journal.take()
  expect(bytes.length).toBe(promised)
  for (const length of [1000, 57_343, 57_344, 57_345, 1 << 20]) {
    const pieces: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length))
    const { loaded, end } = load(...pieces)
    expect([loaded.count, end.nextSequence, end.wholeBytes]).toEqual([5000, 5, bytes.length])
  }
})

test('a torn tail is cut after the last whole block, at any torn length', () => {
  put(1)
  const first = journal.take()
  put(2)
  put(3)
  const second = journal.take()
  for (let length = 0; length < second.length; length++) {
    const { loaded, end } = load(first, second.subarray(0, length))
    expect(loaded.count).toBe(1)
    expect(end).toMatchObject({ wholeBytes: first.length, tornBytes: length, damaged: false, nextSequence: 1 })
  }
})

test('a tail of zeros or garbage is cut', () => {
  put(1)
  const first = journal.take()
  for (const filler of [0, 0xff, 0x57]) {
    const { loaded, end } = load(first, new Uint8Array(10_000).fill(filler))
    expect([loaded.count, end.wholeBytes, end.tornBytes, end.damaged]).toEqual([1, first.length, 10_000, false])
  }
})

test('a bad block before whole blocks is reported as damage, not as a torn tail', () => {
  put(1)
  const first = journal.take()
  put(2)
  const second = journal.take()
  put(3)
  const third = journal.take()
  const bad = second.slice()
  bad[JOURNAL_UNIT_BYTES + 3] = 99
  const { loaded, end } = load(first, bad, third)
  expect(loaded.count).toBe(1)
  expect(end).toMatchObject({ wholeBytes: first.length, tornBytes: bad.length + third.length, damaged: true })
  expect(load(first, third).end.damaged).toBe(true)
  expect(load(first, second, second).end).toMatchObject({ nextSequence: 2, damaged: false })
})

test('every flipped bit of a block is detected', () => {
  put(1)
  put(2)
  const bytes = journal.take()
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = bytes.slice()
    flipped[bit >>> 3] = (flipped[bit >>> 3] as number) ^ (1 << (bit & 7))
    expect(load(flipped).end).toMatchObject({ entries: 0, tornBytes: bytes.length })
  }
})

test('an entry of an unknown kind is refused with the journal version', () => {
  put(1)
  const bytes = journal.take()
  const other = reseal(bytes, (view) => view.setUint8(JOURNAL_UNIT_BYTES + ENTRY.kind, 200))
  expect(() => load(other)).toThrow('the index journal, of version 1, has an entry of the unknown kind 200')
})

test('a journal of another version is refused with both versions', () => {
  put(1)
  const bytes = journal.take()
  const other = reseal(bytes, (view) => view.setUint16(HEADER.version, 2, true))
  expect(() => load(other)).toThrow('the index journal is of version 2; this program reads version 1')
})

test('a journal torn at any byte restores the state at its last whole block', () => {
  const number = fc.integer({ min: 1, max: 12 })
  const step = fc.record({ do: fc.constantFrom('put', 'put', 'drop', 'move', 'flush'), number, offset: fc.nat(99) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(), fc.nat(), (steps, tear, cut) => {
      index = new BlobIndex()
      journal = new JournalWriter()
      const blocks: Uint8Array[] = []
      const states = [contents(index)]
      const flush = () => {
        if (journal.bytes === 0) return
        blocks.push(journal.take())
        states.push(contents(index))
      }
      for (const { do: what, number: n, offset } of steps) {
        if (what === 'flush') flush()
        else if (what === 'put') put(n, { offset, pack: offset % 3 })
        else if (find(n) === -1) continue
        else if (what === 'drop') drop(n)
        else move(n, offset % 3, offset)
      }
      flush()
      const bytes = Buffer.concat(blocks)
      const torn = bytes.subarray(0, tear % (bytes.length + 1))
      const middle = cut % (torn.length + 1)
      const { loaded, end } = load(torn.subarray(0, middle), torn.subarray(middle))
      expect(contents(loaded)).toEqual(states[end.nextSequence])
      expect(end.wholeBytes + end.tornBytes).toBe(torn.length)
      if (torn.length === bytes.length) expect(contents(loaded)).toEqual(contents(index))
    }),
  )
})

/** Changes a block with one entry and recomputes its checksums, as another version of this program would. */
function reseal(bytes: Uint8Array<ArrayBuffer>, change: (view: DataView) => void): Uint8Array {
  const view = new DataView(bytes.buffer)
  change(view)
  view.setUint32(HEADER.crc, crc32(bytes.subarray(JOURNAL_UNIT_BYTES)), true)
  view.setUint32(HEADER.headerCrc, crc32(bytes.subarray(0, HEADER.headerCrc)), true)
  return bytes
}
