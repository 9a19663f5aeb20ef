/**
 * A hash table from the hash of a key to the number of its record. It grows in small steps and stays 62 to 83 % full.
 *
 *   directory   the first bits of a hash select the number of its group
 *   group       an interval of hash values, divided evenly among its 3 to 6 pages
 *   page        512 slots; linear probing starts at a slot that further bits of the hash select
 *   slot        5 more bits of the hash and the 27 bits of the record number; 0 is empty
 *
 * A full group gets one more page and distributes its entries again. A full group of six pages is split into two halves
 * of its interval. So only the 2,000 entries of one group ever move at once (less than 1 ms), and no page is half empty
 * as in a table that doubles. The first groups have intervals of six different lengths, and their descendants keep the
 * ratios: otherwise all groups would grow at the same time, and the whole index would be at its emptiest at once.
 *
 * To distribute entries again, the keys of their records are hashed. These are anywhere in memory, so `warm` reads them
 * first. `remove` moves entries back instead of leaving tombstones, so that the layout of a page depends only on its
 * entries.
 */

/** The functions of the records (records.ts) that the slots use. */
interface KeyedRecords {
  warmth: number
  hash(record: number): number
  holds(record: number, keys: Uint32Array, from: number): boolean
  isNamed(record: number, key: Uint32Array): boolean
  warm(records: Int32Array, count: number): void
}

const PAGE_SHIFT = 9
const PAGE_SLOTS = 1 << PAGE_SHIFT
const PAGE_MASK = PAGE_SLOTS - 1
/** Pages are allocated in segments of 1 MiB. */
const SEGMENT_SHIFT = 9
const SEGMENT_MASK = (1 << SEGMENT_SHIFT) - 1
const SEGMENT_SLOT_MASK = (1 << (SEGMENT_SHIFT + PAGE_SHIFT)) - 1

const MOST_PAGES = 6
/** Entries per page before a group grows. At 83 % a failed search reads 18 slots, at 90 % 50. */
const PER_PAGE = Math.floor(PAGE_SLOTS * 0.83)

/** Lengths of the first groups, in entries of the first directory. Their sum is a power of two. */
const FIRST_LENGTHS = [8, 9, 10, 11, 12, 14]
const FIRST_PLACES = 64
const FIRST_SHIFT = 32 - 6
/** The least shift of the directory. An index of 2^27 blobs needs a shift of 12. */
const LEAST_SHIFT = 8

const RECORD_BITS = 0x07ffffff
const PRINT_BITS = ~RECORD_BITS

/** Columns of a group's row, in words. SCALE is counted in doubles, because the scale is a double. */
const START = 0
const LENGTH = 1
const SCALE = 1
const ENTRIES = 4
const PAGES = 5
const FIRST_PAGE = 6
/** One cache line. */
const ROW = 16

/** Similar hash values share a page. This multiplication gives them different slots and fingerprints. */
const spread = (hash: number): number => Math.imul(hash, 0x9e3779b1)
const homeOf = (mixed: number): number => (mixed >>> 18) & PAGE_MASK

export class HashSlots {
  /** The total size of the shared buffers. */
  bytes = 0
  readonly #records: KeyedRecords
  readonly #segments: Int32Array[] = []
  #pages = 0
  /** Free pages; all their slots are empty. */
  readonly #freePages: number[] = []
  #rows: Uint32Array = new Uint32Array(0)
  #scales: Float64Array = new Float64Array(0)
  #groups = 0
  #directory: Uint32Array
  /** The shift that maps a hash to its place in the directory. */
  #shift: number
  /** Entries of the group that is being distributed. */
  readonly #gathered = new Int32Array(MOST_PAGES * PAGE_SLOTS)
  readonly #hashes = new Uint32Array(MOST_PAGES * PAGE_SLOTS)

  /** Allocates capacity for the expected entries, so that they are not rehashed while the table grows. */
  constructor(records: KeyedRecords, expected: number) {
    this.#records = records
    const halvings = FIRST_LENGTHS.map((length) => halvingsFor((expected * length) / FIRST_PLACES))
    this.#shift = FIRST_SHIFT - Math.max(...halvings)
    this.#directory = this.#sharedWords(2 ** (32 - this.#shift))
    let start = 0
    for (const [i, first] of FIRST_LENGTHS.entries()) {
      const length = (first * 2 ** FIRST_SHIFT) / 2 ** (halvings[i] as number)
      const end = start + first * 2 ** FIRST_SHIFT
      for (; start < end; start += length) {
        this.#resize(this.#addGroup(start, length), pagesFor((expected * length) / 2 ** 32))
      }
    }
  }

  /** Finds the record with the key at `keys[from]`, whose hash is `hash`. Returns -1 when there is none. */
  find(keys: Uint32Array, from: number, hash: number): number {
    const page = this.#pageOf(hash)
    const slots = this.#segments[page >>> SEGMENT_SHIFT] as Int32Array
    const base = (page & SEGMENT_MASK) << PAGE_SHIFT
    const mixed = spread(hash)
    const print = mixed & PRINT_BITS
    for (let at = homeOf(mixed), end = at + PAGE_SLOTS; at < end; at++) {
      const slot = slots[base + (at & PAGE_MASK)] as number
      if (slot === 0) break
      if ((slot & PRINT_BITS) !== print) continue
      const record = slot & RECORD_BITS
      if (this.#records.holds(record, keys, from)) return record
    }
    return -1
  }

  /**
   * Returns the record number `nth` (0 is the first) among the records whose keys differ at most in the size, or -1.
   */
  findNamed(key: Uint32Array, hash: number, nth: number): number {
    const page = this.#pageOf(hash)
    const slots = this.#segments[page >>> SEGMENT_SHIFT] as Int32Array
    const base = (page & SEGMENT_MASK) << PAGE_SHIFT
    const mixed = spread(hash)
    const print = mixed & PRINT_BITS
    let left = nth
    for (let at = homeOf(mixed), end = at + PAGE_SLOTS; at < end; at++) {
      const slot = slots[base + (at & PAGE_MASK)] as number
      if (slot === 0) break
      if ((slot & PRINT_BITS) !== print) continue
      const record = slot & RECORD_BITS
      if (this.#records.isNamed(record, key) && left-- === 0) return record
    }
    return -1
  }

  /**
   * Writes the first candidate record of each hash to `into`, or 0. The steps are those of `find`, but each step runs
   * for all hashes before the next step, so that the memory accesses overlap.
   */
  likely(hashes: Uint32Array, count: number, into: Int32Array): void {
    let sum = 0
    for (let i = 0; i < count; i++) {
      const hash = hashes[i] as number
      const page = this.#pageOf(hash)
      const home = (page << PAGE_SHIFT) | homeOf(spread(hash))
      into[i] = home
      sum ^= (this.#segments[page >>> SEGMENT_SHIFT] as Int32Array)[home & SEGMENT_SLOT_MASK] as number
    }
    this.#records.warmth ^= sum
    for (let i = 0; i < count; i++) into[i] = this.#firstLikely(into[i] as number, spread(hashes[i] as number))
    this.#records.warm(into, count)
  }

  #firstLikely(home: number, mixed: number): number {
    const slots = this.#segments[home >>> (SEGMENT_SHIFT + PAGE_SHIFT)] as Int32Array
    const base = home & SEGMENT_SLOT_MASK & ~PAGE_MASK
    const print = mixed & PRINT_BITS
    for (let at = home & PAGE_MASK, end = at + PAGE_SLOTS; at < end; at++) {
      const slot = slots[base + (at & PAGE_MASK)] as number
      if (slot === 0) break
      if ((slot & PRINT_BITS) === print) return slot & RECORD_BITS
    }
    return 0
  }

  /** Adds a record whose key is not in the table yet. */
  add(record: number, hash: number): void {
    let row = this.#groupOf(hash) * ROW
    if ((this.#rows[row + ENTRIES] as number) >= PER_PAGE * (this.#rows[row + PAGES] as number)) {
      this.#grow(this.#groupOf(hash))
    }
    while (!this.#place(record, hash)) this.#grow(this.#groupOf(hash))
    row = this.#groupOf(hash) * ROW
    this.#rows[row + ENTRIES] = (this.#rows[row + ENTRIES] as number) + 1
  }

  remove(record: number, hash: number): void {
    const page = this.#pageOf(hash)
    const slots = this.#segments[page >>> SEGMENT_SHIFT] as Int32Array
    const base = (page & SEGMENT_MASK) << PAGE_SHIFT
    const mixed = spread(hash)
    const wanted = (mixed & PRINT_BITS) | record
    let hole = homeOf(mixed)
    for (let step = 0; slots[base + hole] !== wanted; step++) {
      if (step === PAGE_SLOTS) throw new Error(`record ${record} is in no slot of the blob index`)
      hole = (hole + 1) & PAGE_MASK
    }
    const run = this.#warmRun(slots, base, hole)
    for (let i = 0, at = hole; i < run; i++) {
      at = (at + 1) & PAGE_MASK
      const home = homeOf(spread(this.#records.hash(this.#gathered[i] as number)))
      if (((at - home) & PAGE_MASK) < ((at - hole) & PAGE_MASK)) continue // it would be before its home slot
      slots[base + hole] = slots[base + at] as number
      hole = at
    }
    slots[base + hole] = 0
    const row = this.#groupOf(hash) * ROW
    this.#rows[row + ENTRIES] = (this.#rows[row + ENTRIES] as number) - 1
  }

  /** Collects the entries that follow a slot, up to the first empty slot. */
  #warmRun(slots: Int32Array, base: number, after: number): number {
    let count = 0
    for (; count < PAGE_SLOTS - 1; count++) {
      const slot = slots[base + ((after + 1 + count) & PAGE_MASK)] as number
      if (slot === 0) break
      this.#gathered[count] = slot & RECORD_BITS
    }
    this.#records.warm(this.#gathered, count)
    return count
  }

  #groupOf(hash: number): number {
    return this.#directory[hash >>> this.#shift] as number
  }

  #pageOf(hash: number): number {
    const row = this.#groupOf(hash) * ROW
    const nth = ((hash - (this.#rows[row + START] as number)) * (this.#scales[(row >>> 1) + SCALE] as number)) | 0
    return this.#rows[row + FIRST_PAGE + nth] as number
  }

  /** Returns false when the page is full. */
  #place(record: number, hash: number): boolean {
    const page = this.#pageOf(hash)
    const slots = this.#segments[page >>> SEGMENT_SHIFT] as Int32Array
    const base = (page & SEGMENT_MASK) << PAGE_SHIFT
    const mixed = spread(hash)
    for (let at = homeOf(mixed), end = at + PAGE_SLOTS; at < end; at++) {
      if (slots[base + (at & PAGE_MASK)] !== 0) continue
      slots[base + (at & PAGE_MASK)] = (mixed & PRINT_BITS) | record
      return true
    }
    return false
  }

  #grow(group: number): void {
    const pages = this.#rows[group * ROW + PAGES] as number
    const count = this.#gather(group)
    if (pages === MOST_PAGES) return this.#split(group, 0, count)
    this.#resize(group, pages + 1)
    this.#settle(group, 0, count)
  }

  /** Puts collected entries into a group. Adds pages to the group, or splits it, when necessary. */
  #settle(group: number, from: number, to: number): void {
    const row = group * ROW
    this.#rows[row + ENTRIES] = to - from
    for (let pages = Math.max(this.#rows[row + PAGES] as number, pagesFor(to - from)); pages <= MOST_PAGES; pages++) {
      this.#resize(group, pages)
      let i = from
      while (i < to && this.#place(this.#gathered[i] as number, this.#hashes[i] as number)) i++
      if (i === to) return
      this.#empty(group) // one page is full
    }
    this.#split(group, from, to)
  }

  #split(group: number, from: number, to: number): void {
    const row = group * ROW
    const half = (this.#rows[row + LENGTH] as number) / 2
    const middle = (this.#rows[row + START] as number) + half
    if (half % 2 ** this.#shift !== 0) this.#doubleDirectory()
    let low = from
    for (let high = to; low < high; ) {
      if ((this.#hashes[low] as number) < middle) low++
      else this.#swapGathered(low, --high)
    }
    this.#rows[row + LENGTH] = half
    this.#resize(group, 1)
    const other = this.#addGroup(middle, half)
    this.#settle(group, from, low)
    this.#settle(other, low, to)
  }

  #swapGathered(one: number, other: number): void {
    const record = this.#gathered[one] as number
    const hash = this.#hashes[one] as number
    this.#gathered[one] = this.#gathered[other] as number
    this.#hashes[one] = this.#hashes[other] as number
    this.#gathered[other] = record
    this.#hashes[other] = hash
  }

  /** Removes all entries from the group's pages and collects them. */
  #gather(group: number): number {
    const row = group * ROW
    let count = 0
    for (let nth = 0; nth < (this.#rows[row + PAGES] as number); nth++) {
      const page = this.#rows[row + FIRST_PAGE + nth] as number
      const slots = this.#segments[page >>> SEGMENT_SHIFT] as Int32Array
      const base = (page & SEGMENT_MASK) << PAGE_SHIFT
      for (let at = base; at < base + PAGE_SLOTS; at++) {
        const slot = slots[at] as number
        if (slot !== 0) this.#gathered[count++] = slot & RECORD_BITS
      }
      slots.fill(0, base, base + PAGE_SLOTS)
    }
    this.#records.warm(this.#gathered, count)
    for (let i = 0; i < count; i++) this.#hashes[i] = this.#records.hash(this.#gathered[i] as number)
    return count
  }

  #empty(group: number): void {
    const row = group * ROW
    for (let nth = 0; nth < (this.#rows[row + PAGES] as number); nth++) {
      const page = this.#rows[row + FIRST_PAGE + nth] as number
      const base = (page & SEGMENT_MASK) << PAGE_SHIFT
      ;(this.#segments[page >>> SEGMENT_SHIFT] as Int32Array).fill(0, base, base + PAGE_SLOTS)
    }
  }

  /** Sets the number of pages of an empty group. */
  #resize(group: number, pages: number): void {
    const row = group * ROW
    let has = this.#rows[row + PAGES] as number
    while (has < pages) this.#rows[row + FIRST_PAGE + has++] = this.#freePages.pop() ?? this.#newPage()
    while (has > pages) this.#freePages.push(this.#rows[row + FIRST_PAGE + --has] as number)
    this.#rows[row + PAGES] = pages
    this.#scales[(row >>> 1) + SCALE] = pages / (this.#rows[row + LENGTH] as number)
  }

  #newPage(): number {
    if (this.#pages >>> SEGMENT_SHIFT === this.#segments.length) {
      const shared = new SharedArrayBuffer(4 << (SEGMENT_SHIFT + PAGE_SHIFT))
      this.#segments.push(new Int32Array(shared))
      this.bytes += shared.byteLength
    }
    return this.#pages++
  }

  #addGroup(start: number, length: number): number {
    const group = this.#groups++
    if (group * ROW === this.#rows.length) {
      const wider = this.#sharedWords(Math.max(16 * ROW, this.#rows.length * 2))
      wider.set(this.#rows)
      this.bytes -= this.#rows.byteLength
      this.#rows = wider
      this.#scales = new Float64Array(wider.buffer)
    }
    this.#rows[group * ROW + START] = start
    this.#rows[group * ROW + LENGTH] = length
    this.#directory.fill(group, start / 2 ** this.#shift, (start + length) / 2 ** this.#shift)
    return group
  }

  #doubleDirectory(): void {
    if (this.#shift === LEAST_SHIFT) throw new Error('the keys of the blob index hash too much alike')
    const narrow = this.#directory
    const wider = this.#sharedWords(narrow.length * 2)
    for (let i = 0; i < wider.length; i++) wider[i] = narrow[i >>> 1] as number
    this.bytes -= narrow.byteLength
    this.#directory = wider
    this.#shift--
  }

  #sharedWords(length: number): Uint32Array<SharedArrayBuffer> {
    const shared = new SharedArrayBuffer(length * 4)
    this.bytes += shared.byteLength
    return new Uint32Array(shared)
  }
}

const pagesFor = (entries: number): number => Math.floor(entries / PER_PAGE) + 1

/** How many times an interval must be halved until its entries fit in one group. */
const halvingsFor = (entries: number): number =>
  Math.max(0, Math.floor(Math.log2(entries / (PER_PAGE * MOST_PAGES))) + 1)
