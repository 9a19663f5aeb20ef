/**
 * Reads all blobs again and again, at a limited rate, and drops corrupt ones, so that a client can upload them again
 * while it still has them.
 */
import type { Clock } from '../../base/clock.ts'
import type { Catalogue } from './catalogue.ts'
import type { Pack, PackSet } from './pack-set.ts'
import type { PackWalk } from './pack-walk.ts'
import type { RecordReader } from './record-reader.ts'

const STEP_BYTES = 1024 * 1024
const REST_MS = 60_000

export interface ScrubOptions {
  readonly clock: Clock
  readonly bytesPerSecond: number
  lost(blobs: number, pack: number): void
  /** Called after each pass. */
  done(bytes: number): void
  failed(error: unknown): void
}

export interface ScrubTools {
  readonly catalogue: Catalogue
  readonly packs: PackSet
  readonly walk: PackWalk
  readonly reader: RecordReader
}

export interface Scrub {
  close(): Promise<void>
}

export function startScrub(tools: ScrubTools, options: ScrubOptions): Scrub {
  let isClosed = false
  let wake: (() => void) | undefined
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = options.clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  const isStopped = () => isClosed
  const pace = (bytes: number) => sleep((bytes / options.bytesPerSecond) * 1000)

  const run = async (): Promise<void> => {
    await sleep(REST_MS)
    while (!isClosed) {
      let bytes = 0
      for (const pack of [...tools.packs.all()].sort((one, other) => one.number - other.number)) {
        if (isClosed || pack.removed) continue
        bytes += await scrubPack(tools, pack, { pace, isStopped, ...options }).catch((error) => {
          options.failed(error)
          return 0
        })
      }
      if (isClosed) return
      options.done(bytes)
      await sleep(REST_MS)
    }
  }
  const running = run()
  return {
    async close() {
      isClosed = true
      wake?.()
      await running
    },
  }
}

interface Pacing extends Pick<ScrubOptions, 'lost'> {
  pace(bytes: number): Promise<void>
  isStopped(): boolean
}

async function scrubPack(tools: ScrubTools, pack: Pack, { pace, isStopped, lost }: Pacing): Promise<number> {
  const { catalogue, walk, reader } = tools
  let read = 0
  let since = 0
  const took = async (bytes: number): Promise<void> => {
    read += bytes
    since += bytes
    if (since < STEP_BYTES) return
    const due = since
    since = 0
    await pace(due)
  }
  if (pack.isSolo) {
    if (await reader.isSoloRight(pack, took, isStopped)) return read
    const left = await catalogue.recordsIn(pack.number) // its header is corrupt, so its digest is unknown
    for (const record of left) catalogue.drop(record)
    if (left.length > 0) lost(left.length, pack.number)
    return read
  }
  let bad = 0
  for await (const { record, content } of walk.live(pack)) {
    if (isStopped()) return read
    const bytes = catalogue.bytesOf(record)
    if (content === undefined) {
      catalogue.drop(record)
      bad++
    } else catalogue.setChecked(record)
    await took(bytes)
  }
  await pace(since)
  if (bad > 0) lost(bad, pack.number)
  return read
}
