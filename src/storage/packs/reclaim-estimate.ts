/**
 * Estimates how much a reclaim would free. It is not exact: whole packs are rewritten, and blobs are touched meanwhile.
 */
import type { ReclaimGoal, ReclaimProgress } from '../../model/storage-figures.ts'
import { type ReclaimTools, WORTHWHILE } from './reclaim.ts'
import { bucketOf, Survey } from './survey.ts'

const SLICE_RECORDS = 16_384

export async function estimate(tools: ReclaimTools, goal: ReclaimGoal, now: number): Promise<ReclaimProgress> {
  const { catalogue, packs, writer, room } = tools
  const survey = await Survey.take(catalogue, now)
  const goes = goal.kind === 'size' ? oldestUntil(goal.toBytes, tools, survey) : olderThan(goal)
  const going = new Map<number, number>()
  let evictedBlobs = 0
  await catalogue.eachRecord(SLICE_RECORDS, (record) => {
    if (catalogue.isRoot(record) || !goes(now - catalogue.index.touch(record))) return
    const pack = catalogue.index.pack(record)
    // Evicting for space skips the newest pack, because that would free nothing.
    if (goal.kind === 'size' && pack === writer.current?.number) return
    evictedBlobs++
    going.set(pack, (going.get(pack) ?? 0) + catalogue.bytesOf(record))
  })
  let freedBytes = 0
  for (const pack of packs.all()) {
    const gone = pack.end - pack.live + (going.get(pack.number) ?? 0)
    const isFreed = goal.kind === 'size' || gone >= pack.end * WORTHWHILE
    if (pack !== writer.current && isFreed) freedBytes += Math.min(pack.end, gone)
  }
  const left = { pinnedBytes: survey.rootBytes, openFileBytes: writer.current?.end ?? 0 }
  return { diskBytes: room.bytes, freedBytes, copiedBytes: 0, evictedBlobs, ...left, isDone: true }
}

/** Whether a blob of this age is evicted. */
type Goes = (ageSeconds: number) => boolean

const olderThan =
  (goal: ReclaimGoal): Goes =>
  (age) =>
    goal.kind === 'age' && age >= goal.olderThanSeconds

function oldestUntil(toBytes: number, { packs, room }: ReclaimTools, survey: Survey): Goes {
  const missing = room.bytes - toBytes
  if (missing <= 0) return () => false
  let dead = 0
  for (const pack of packs.all()) dead += pack.end - pack.live
  const bucket = survey.bucketFor(Math.max(0, missing - dead))
  return (age) => bucketOf(age) >= bucket
}
