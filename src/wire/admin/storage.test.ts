import { expect, test } from 'vitest'
import type { ReclaimGoal, StorageFigures } from '../../model/storage-figures.ts'
import { judged } from '../messages/messages.fixture.ts'
import {
  figuresFromProto,
  figuresRequestFromProto,
  figuresRequestToProto,
  figuresToProto,
  reclaimProgressFromProto,
  reclaimProgressToProto,
  reclaimRequestFromProto,
  reclaimRequestToProto,
} from './storage.ts'

const FIGURES: StorageFigures = {
  blobs: 20_000_000,
  liveBytes: 7_000_000_000_000,
  diskBytes: 8_000_000_000_000,
  limitBytes: 9_000_000_000_000,
  packs: 31_000,
  pinnedBlobs: 3,
  evictedBlobs: 12,
  freedBytes: 34,
  openSeconds: 86_400,
  oldestTouchSeconds: 0,
  isReclaiming: true,
}

test('storage figures round-trip, with and without an oldest touch', () => {
  expect(figuresFromProto(figuresToProto(FIGURES))).toEqual(FIGURES)
  const empty = { ...FIGURES, oldestTouchSeconds: undefined, isReclaiming: false }
  expect(figuresFromProto(figuresToProto(empty))).toEqual(empty)
  const seen = judged('windlass.storage.v1.FiguresResponse', figuresToProto(FIGURES))
  expect(seen).toMatchObject({ diskBytes: 8_000_000_000_000n, oldestTouchSeconds: 0n, reclaiming: true })
})

test('a figures request is empty, and a malformed one is refused', () => {
  expect(figuresRequestFromProto(figuresRequestToProto())).toBeUndefined()
  expect(() => figuresRequestFromProto(Uint8Array.of(0x0a, 0xff))).toThrow('malformed FiguresRequest')
})

test.each<ReclaimGoal>([
  { kind: 'waste' },
  { kind: 'size', toBytes: 0 },
  { kind: 'size', toBytes: 5_000_000_000_000 },
  { kind: 'age', olderThanSeconds: 604_800 },
])('a reclaim goal %j round-trips', (goal) => {
  for (const isDryRun of [true, false]) {
    expect(reclaimRequestFromProto(reclaimRequestToProto({ goal, isDryRun }))).toEqual({ goal, isDryRun })
  }
})

test.each([
  ['a negative size', [0x08, ...Array(9).fill(0xff), 1], 'to_bytes is negative'],
  ['a negative age', [0x10, ...Array(9).fill(0xff), 1], 'older_than_seconds is negative'],
  ['text for a size', [0x0a, 1, 0x31], 'malformed ReclaimRequest: field 1 has the wrong type'],
  ['two goals', [0x08, 1, 0x10, 1], 'a reclaim request has two goals, but may have one'],
  ['a number without its end', [0x08, 0xff], 'malformed ReclaimRequest'],
  ['a size beyond what a number holds', [0x08, ...Array(8).fill(0xff), 0x7f], 'malformed ReclaimRequest'],
])('a reclaim request with %s is refused', (_, bytes, words) => {
  expect(() => reclaimRequestFromProto(Uint8Array.from(bytes))).toThrow(words)
})

test('reclaim progress round-trips', () => {
  const progress = {
    diskBytes: 1,
    freedBytes: 2_000_000_000_000,
    copiedBytes: 3,
    evictedBlobs: 4,
    pinnedBytes: 5,
    openFileBytes: 6,
    isDone: true,
  }
  expect(reclaimProgressFromProto(reclaimProgressToProto(progress))).toEqual(progress)
})
