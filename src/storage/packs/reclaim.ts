/**
 * Makes space. When the files take more than `startBytes`, the blobs whose last touch is oldest yield first: a survey of
 * the index finds the age beyond which enough would go, and then
 *
 *   solos of that age are removed;
 *   packs are rewritten, the one with the most to reclaim first: what is younger, or a root, is copied to the newest
 *   pack, and once the copies are safe on disk the old pack is removed.
 *
 * A pack is rewritten only when at least half of it goes, so no more is copied than is taken in; when no pack is that
 * far gone, younger blobs must yield too. Only when everything that is not a root may go are fuller packs rewritten.
 * Copying goes no faster than blobs come in (or `copyFloor`, when that is more) unless somebody waits for the space.
 */
import type { Clock } from '../../base/clock.ts'
import type { Catalogue } from './catalogue.ts'
import type { Pack, PackSet } from './pack-set.ts'
import type { PackWalk } from './pack-walk.ts'
import type { Batch, PackWriter } from './pack-writer.ts'
import type { Room } from './room.ts'
import { bucketOf, Survey } from './survey.ts'

const COPY_FLOOR_BYTES_PER_SECOND = 32 * 1024 * 1024
const BURST_BYTES = 4 * 1024 * 1024
const COPIES_IN_FLIGHT_BYTES = 1024 * 1024
const PAUSE_MS = 50
const STEP = 2 // buckets by which the age comes down when no pack is far enough gone
const LAST_RESORT = 1 / 16

export interface ReclaimOptions {
  readonly startBytes: number
  readonly targetBytes: number
  readonly clock: Clock
  seconds(): number
  /** Bytes that were taken in since the store was opened, copies left out. */
  ingested(): number
  packGone(pack: Pack): void
  reclaimed(event: ReclaimEvent): void
  failed(error: unknown): void
}

export interface ReclaimEvent {
  readonly pack: number
  readonly freedBytes: number
  readonly copiedBytes: number
  readonly evictedBlobs: number
  readonly lostBlobs: number
}

export interface ReclaimTools {
  readonly catalogue: Catalogue
  readonly packs: PackSet
  readonly writer: PackWriter
  readonly walk: PackWalk
  readonly room: Room
}

export class Reclaimer {
  readonly #tools: ReclaimTools
  readonly #options: ReclaimOptions
  #running: Promise<void> | undefined
  #isClosed = false
  /** Where pacing counts from. */
  #paceFrom = { ms: 0, ingested: 0 }
  #copied = 0
  #freedBytes = 0
  #wake: (() => void) | undefined

  constructor(tools: ReclaimTools, options: ReclaimOptions) {
    this.#tools = tools
    this.#options = options
  }

  /** Starts when there is reason to, unless it runs already. */
  check(): void {
    if (this.#tools.room.waiting > 0) this.#wake?.()
    const { room } = this.#tools
    const isNeeded = room.waiting > 0 || (room.bytes > this.#options.startBytes && !room.isStuck)
    if (this.#isClosed || this.#running !== undefined || !isNeeded) return
    this.#running = this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake?.()
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      const { room } = this.#tools
      while (!this.#isClosed && (room.bytes > this.#options.startBytes || room.waiting > 0)) {
        const freed = this.#freedBytes
        await this.#round()
        if (this.#freedBytes > freed) continue
        room.stuck()
        return
      }
    } catch (error) {
      this.#options.failed(error)
      this.#tools.room.stuck()
    }
  }

  /** One survey and what it leads to. */
  async #round(): Promise<void> {
    const { catalogue, packs } = this.#tools
    const freed = this.#freedBytes
    await this.#removeDeadSolos()
    const survey = await Survey.take(catalogue, this.#options.seconds())
    this.#paceFrom = { ms: this.#options.clock.monotonic(), ingested: this.#options.ingested() }
    this.#copied = 0
    let dead = 0
    for (const pack of packs.all()) dead += pack.end - pack.live
    let bucket = survey.bucketFor(Math.max(0, this.#missingBytes() - dead))
    for (; this.#missingBytes() > 0 && !this.#isClosed; bucket = Math.max(0, bucket - STEP)) {
      await this.#removeSolos(survey, bucket)
      await this.#rewrite(survey, bucket, 0.5)
      if (bucket === 0) break
    }
    if (this.#missingBytes() > 0 && freed === this.#freedBytes) await this.#rewrite(survey, 0, LAST_RESORT)
  }

  #missingBytes(): number {
    return this.#tools.room.bytes - this.#options.targetBytes
  }

  async #removeDeadSolos(): Promise<void> {
    const dead = [...this.#tools.packs.all()].filter(({ isSolo, live }) => isSolo && live === 0)
    for (const pack of dead) await this.#remove(pack, { bytes: 0, evicted: 0, lost: 0 })
  }

  async #removeSolos(survey: Survey, bucket: number): Promise<void> {
    for (const solo of survey.solos) {
      if (solo.bucket < bucket || this.#missingBytes() <= 0 || this.#isClosed) return
      const pack = this.#tools.packs.get(solo.pack)
      const isThere = pack !== undefined && this.#tools.catalogue.isAt(solo.record, { pack: solo.pack, unit: 0 })
      if (!isThere || !this.#mayGo(solo.record, bucket)) continue
      this.#tools.catalogue.drop(solo.record)
      await this.#remove(pack, { bytes: 0, evicted: 1, lost: 0 })
    }
  }

  async #rewrite(survey: Survey, bucket: number, leastPart: number): Promise<void> {
    while (this.#missingBytes() > 0 && !this.#isClosed) {
      const pack = this.#mostToReclaim(survey, bucket, leastPart)
      if (pack === undefined) return
      await this.#rewriteOne(pack, bucket)
    }
  }

  #mostToReclaim(survey: Survey, bucket: number, leastPart: number): Pack | undefined {
    let best: Pack | undefined
    let most = 0
    for (const pack of this.#tools.packs.all()) {
      if (pack.isSolo || pack === this.#tools.writer.current) continue
      const gone = pack.end - pack.live + Math.min(pack.live, survey.coldIn(pack.number, bucket))
      if (gone <= most || gone < pack.end * leastPart) continue
      best = pack
      most = gone
    }
    return best
  }

  async #rewriteOne(pack: Pack, bucket: number): Promise<void> {
    const { catalogue, writer } = this.#tools
    const tally = await this.#copyWanted(pack, bucket)
    if (this.#isClosed) return
    // The copies must outlive a loss of power before their source may go.
    if (tally.bytes > 0) await writer.flush()
    if (pack.live > 0) {
      for (const record of await catalogue.recordsIn(pack.number)) {
        catalogue.drop(record)
        tally.lost++
      }
    }
    await this.#remove(pack, tally)
  }

  async #remove(pack: Pack, { bytes, evicted, lost }: Tally): Promise<void> {
    const freedBytes = pack.end - bytes
    this.#options.packGone(pack)
    await this.#tools.packs.remove(pack)
    this.#freedBytes += freedBytes
    this.#options.reclaimed({
      pack: pack.number,
      freedBytes,
      copiedBytes: bytes,
      evictedBlobs: evicted,
      lostBlobs: lost,
    })
    this.#tools.room.freed()
  }

  #mayGo(record: number, bucket: number): boolean {
    const { catalogue } = this.#tools
    if (catalogue.isRoot(record)) return false
    return bucketOf(this.#options.seconds() - catalogue.index.touch(record)) >= bucket
  }

  async #copyWanted(pack: Pack, bucket: number): Promise<Tally> {
    const { catalogue, walk, writer } = this.#tools
    const tally: Tally = { bytes: 0, evicted: 0, lost: 0 }
    const batches = new Set<Batch>()
    let inFlight = 0
    for await (const { record, unit, content } of walk.live(pack)) {
      if (this.#isClosed) break
      if (content === undefined) {
        catalogue.drop(record)
        tally.lost++
        continue
      }
      if (this.#mayGo(record, bucket)) {
        catalogue.drop(record)
        tally.evicted++
        continue
      }
      const { header } = content
      const origin = { pack: header.originPack, unit: header.originUnit }
      const intent = { kind: 'copy', from: { pack: pack.number, unit }, origin } as const
      // The walk's window is used again, so large payloads, which the batch does not copy, are copied here.
      const batch = writer.add(header, header.form, Buffer.from(content.payload), intent)
      batches.add(batch)
      const bytes = catalogue.bytesOf(record)
      tally.bytes += bytes
      inFlight += bytes
      if (inFlight >= COPIES_IN_FLIGHT_BYTES) {
        await Promise.all([...batches].map(({ done }) => done))
        batches.clear()
        await this.#pace(inFlight)
        inFlight = 0
      }
    }
    await Promise.all([...batches].map(({ done }) => done))
    return tally
  }

  async #pace(copied: number): Promise<void> {
    this.#copied += copied
    const { clock, ingested } = this.#options
    while (!this.#isClosed && this.#tools.room.waiting === 0) {
      const seconds = (clock.monotonic() - this.#paceFrom.ms) / 1000
      const allowed = Math.max(ingested() - this.#paceFrom.ingested, seconds * COPY_FLOOR_BYTES_PER_SECOND)
      if (this.#copied <= allowed + BURST_BYTES) return
      await new Promise<void>((resolve) => {
        const cancel = clock.after(PAUSE_MS, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
      this.#wake = undefined
    }
  }
}

interface Tally {
  bytes: number
  evicted: number
  lost: number
}
