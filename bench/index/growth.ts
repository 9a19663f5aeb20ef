/** Fills an index blob by blob and measures it on the way. */
import { BlobIndex } from '../../src/storage/index/blob-index.ts'
import { tagOf } from '../../src/storage/index/tag.ts'
import { median } from '../middle.ts'
import { Digests } from './digests.ts'
import { type Lap, timed } from './stopwatch.ts'

export interface Growth {
  readonly stops: readonly Stop[]
  /** Bytes of all buffers divided by the number of blobs, over the last half of the growth. */
  readonly worstBytes: number
  readonly averageBytes: number
  /** The longest time of GROUP inserts in a row: no single insert took longer. */
  readonly longestPauseMs: number
  /** The share of groups that were interrupted, and not counted. */
  readonly disturbed: number
}

/** Nanoseconds per operation, with `blobs` blobs in the index. */
export type Stop = Readonly<Record<Operation, number>> & {
  readonly blobs: number
  /** Between the previous stop and this one. */
  readonly insert: number
  readonly bytes: number
}

export type Operation =
  | 'remove'
  | 'findHeld'
  | 'findAbsent'
  | 'missingHeld'
  | 'missingAbsent'
  /** The same digests once more. */
  | 'missingHot'

export const GROUP = 64
export const REQUEST = 2000
const SAMPLE_EVERY = 64 * 500
const WARM_UP_ROUNDS = 50
const ROUNDS = 200
const TAG = tagOf(0, 'sha256')

export function grow(sizes: readonly number[]): Growth {
  const index = new BlobIndex()
  const last = Math.max(...sizes)
  const stops: Stop[] = []
  const samples: number[] = []
  let longestPauseMs = 0
  let disturbed = 0
  let blobs = 0
  for (const size of sizes) {
    let [spentMs, counted] = [0, 0]
    for (; blobs < size; blobs += GROUP) {
      const lap = insertGroup(index, blobs)
      if (lap.disturbed) disturbed++
      else {
        counted += GROUP
        spentMs += lap.ms
        longestPauseMs = Math.max(longestPauseMs, lap.ms)
      }
      if (blobs >= last / 2 && blobs % SAMPLE_EVERY === 0) samples.push(index.memoryBytes / index.count)
    }
    stops.push({ blobs, insert: (spentMs * 1e6) / counted, bytes: index.memoryBytes / index.count, ...measure(index) })
  }
  const averageBytes = samples.reduce((sum, one) => sum + one, 0) / samples.length
  const worstBytes = Math.max(...samples)
  return { stops, worstBytes, averageBytes, longestPauseMs, disturbed: (disturbed * GROUP) / blobs }
}

const group = new Digests(GROUP)
const location = { pack: 0, offset: 0, storedBytes: 0, flags: 0 }

function insertGroup(index: BlobIndex, from: number): Lap {
  for (let i = 0; i < GROUP; i++) group.set(i, from + i)
  return timed(() => insertAll(index, group))
}

function insertAll(index: BlobIndex, list: Digests): void {
  for (let i = 0; i < list.count; i++) {
    const size = list.sizes[i] as number
    location.storedBytes = size
    index.insert(TAG, list.hashes, i * list.width, list.width, size, location, 1)
  }
}

function measure(index: BlobIndex): Record<Operation, number> {
  const request = new Digests(REQUEST)
  const laps: Record<Operation, Lap[]> = {
    findHeld: [],
    findAbsent: [],
    missingHeld: [],
    missingAbsent: [],
    missingHot: [],
    remove: [],
  }
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    request.setRandom(0, index.count)
    laps.findHeld.push(timed(() => expectFound(index, request, REQUEST)))
    request.setRandom(2 ** 31, 2 ** 30)
    laps.findAbsent.push(timed(() => expectFound(index, request, 0)))
    request.setRandom(2 ** 31, 2 ** 30)
    laps.missingAbsent.push(timed(() => expectMissing(index, request, 1)))
    request.setRandom(0, index.count)
    laps.missingHeld.push(timed(() => expectMissing(index, request, 0)))
    laps.missingHot.push(timed(() => expectMissing(index, request, 0)))
    const records = recordsOf(index, request)
    laps.remove.push(timed(() => removeAll(index, records)))
    insertAll(index, request)
  }
  return {
    findHeld: nsPerCall(laps.findHeld),
    findAbsent: nsPerCall(laps.findAbsent),
    missingHeld: nsPerCall(laps.missingHeld),
    missingAbsent: nsPerCall(laps.missingAbsent),
    missingHot: nsPerCall(laps.missingHot),
    remove: nsPerCall(laps.remove),
  }
}

/**
 * The first rounds warm up the JIT compiler. If the machine is so busy that every round is interrupted, all of them
 * count.
 */
function nsPerCall(all: readonly Lap[]): number {
  const laps = all.slice(WARM_UP_ROUNDS)
  const calm = laps.filter(({ disturbed }) => !disturbed)
  return (median((calm.length > 0 ? calm : laps).map(({ ms }) => ms)) * 1e6) / REQUEST
}

function expectFound(index: BlobIndex, list: Digests, expected: number): void {
  let found = 0
  for (let i = 0; i < list.count; i++) {
    if (index.find(TAG, list.hashes, i * list.width, list.width, list.sizes[i] as number) !== -1) found++
  }
  if (found !== expected) throw new Error(`find found ${found} of ${expected}`)
}

const answers = new Uint8Array(REQUEST)
let seconds = 1

function expectMissing(index: BlobIndex, list: Digests, expected: 0 | 1): void {
  index.missing(TAG, list, answers, seconds++)
  if (answers.includes(1 - expected)) throw new Error('missing gave a wrong answer')
}

function recordsOf(index: BlobIndex, list: Digests): Set<number> {
  const records = new Set<number>()
  for (let i = 0; i < list.count; i++) {
    records.add(index.find(TAG, list.hashes, i * list.width, list.width, list.sizes[i] as number))
  }
  return records
}

function removeAll(index: BlobIndex, records: Set<number>): void {
  for (const record of records) index.remove(record)
}
