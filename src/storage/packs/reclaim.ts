/**
 * Frees disk space. When the files take more than `startBytes`, the least recently touched blobs are evicted first. A
 * survey of the index finds the age from which eviction frees enough. Then
 *
 *   solos of that age are removed;
 *   packs are rewritten, the one with the most to free first: younger blobs and roots are copied to the newest pack,
 *   and when the copies are synced, the old pack is removed.
 *
 * A pack is rewritten only when that frees at least half of it, so no more is copied than was written. When there is no
 * such pack, younger blobs are evicted too. Fuller packs are rewritten only when all blobs but the roots may be
 * evicted. Copying is no faster than the rate of new blobs (or COPY_FLOOR_BYTES_PER_SECOND, if that is more), unless a
 * write waits for space.
 *
 * An operator may also request space (`now`). This does the same work with another goal, one pack at a time, so that
 * copies never use more than their reserve; the store's own need for space has priority. A blob that is touched after
 * the request is not evicted for it: otherwise the request would never finish on a busy server.
 */
import type { Clock } from '../../base/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { ReclaimGoal, ReclaimProgress } from '../../model/storage-figures.ts'
import type { Catalogue } from './catalogue.ts'
import type { DiskSpace } from './disk-space.ts'
import type { Pack, PackSet } from './pack-set.ts'
import type { PackWalk } from './pack-walk.ts'
import type { Batch, PackWriter } from './pack-writer.ts'
import { bucketOf, Survey } from './survey.ts'

/** On request, a pack is rewritten when that frees at least this share of it. */
export const WORTHWHILE = 1 / 4
const COPY_FLOOR_BYTES_PER_SECOND = 32 * 1024 * 1024
const BURST_BYTES = 4 * 1024 * 1024
const COPIES_IN_FLIGHT_BYTES = 1024 * 1024
const PAUSE_MS = 50
const STEP = 2 // buckets by which the age threshold decreases when no pack is worth rewriting
const LAST_RESORT = 1 / 16
const SLICE_RECORDS = 16_384
/** A bucket above the age of every blob: nothing is evicted. */
const NEVER = Number.POSITIVE_INFINITY

export interface ReclaimOptions {
  readonly startBytes: number
  readonly targetBytes: number
  readonly clock: Clock
  seconds(): number
  /** Bytes written since the store was opened, without copies. */
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
  readonly room: DiskSpace
}

/** Receives the progress of a reclaim on request, and can cancel it. */
export interface ReclaimListener {
  readonly signal: AbortSignal
  progress(progress: ReclaimProgress): void
}

interface Asked extends ReclaimListener {
  readonly goal: ReclaimGoal
  /** The totals and the time when the reclaim began. */
  from: Totals
  fromSeconds: number
}

export interface Totals {
  readonly freedBytes: number
  readonly copiedBytes: number
  readonly evictedBlobs: number
}

export class Reclaimer {
  readonly #tools: ReclaimTools
  readonly #options: ReclaimOptions
  #running: Promise<void> | undefined
  #isClosed = false
  /** The start of the current pacing period. */
  #paceFrom = { ms: 0, ingested: 0 }
  #copied = 0
  #freedBytes = 0
  #copiedBytes = 0
  #evictedBlobs = 0
  /** The request that waits or runs, and the request that runs now. */
  #asked: Asked | undefined
  #serving: Asked | undefined
  #wake: (() => void) | undefined

  constructor(tools: ReclaimTools, options: ReclaimOptions) {
    this.#tools = tools
    this.#options = options
  }

  /** Starts reclaiming if it is needed and not running. */
  check(): void {
    if (this.#tools.room.waiting > 0) this.#wake?.()
    if (this.#isClosed || this.#running !== undefined || !this.#isNeeded) return
    this.#start(this.#run())
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Totals since the store was opened. */
  get totals(): Totals {
    return { freedBytes: this.#freedBytes, copiedBytes: this.#copiedBytes, evictedBlobs: this.#evictedBlobs }
  }

  /** Reclaims on request, until the goal is reached, nothing more can be evicted, or the caller cancels. */
  async now(goal: ReclaimGoal, listener: ReclaimListener): Promise<ReclaimProgress> {
    if (this.#isClosed) throw new FaultError({ kind: 'unavailable', what: 'the store is closing' })
    if (this.#asked !== undefined)
      throw invalid('another request is already reclaiming space: try again when it has finished', 'exists')
    const { signal } = listener
    const asked: Asked = {
      goal,
      signal,
      progress: (progress) => listener.progress(progress),
      from: this.totals,
      fromSeconds: 0,
    }
    this.#asked = asked
    const wake = () => this.#wake?.()
    signal.addEventListener('abort', wake)
    try {
      while (this.#running !== undefined) await this.#running
      const work = this.#serve(asked)
      this.#start(work.catch(() => {}))
      await work
      const left = await this.#leftBehind()
      if (signal.aborted)
        throw new FaultError({ kind: 'cancelled', what: 'the client that requested space disconnected' })
      if (this.#isClosed)
        throw new FaultError({ kind: 'unavailable', what: 'the server stops; what is freed stays so' })
      return this.#progressOf(asked, left)
    } finally {
      signal.removeEventListener('abort', wake)
      this.#asked = undefined
      this.check()
    }
  }

  #start(work: Promise<void>): void {
    this.#running = work.finally(() => {
      this.#running = undefined
    })
  }

  get #isNeeded(): boolean {
    const { room } = this.#tools
    return room.waiting > 0 || (room.bytes > this.#options.startBytes && !room.isStuck)
  }

  /** Whether to stop: the store closes, or the caller has cancelled. */
  get #isOver(): boolean {
    return this.#isClosed || this.#serving?.signal.aborted === true
  }

  async #serve(asked: Asked): Promise<void> {
    this.#serving = asked
    asked.from = this.totals
    asked.fromSeconds = this.#options.seconds()
    await this.#tools.writer.endPack()
    try {
      if (asked.goal.kind === 'size') return await this.#shrink()
      if (asked.goal.kind === 'age') await this.#evictOlderThan(asked.goal.olderThanSeconds)
      await this.#giveBackWaste()
    } finally {
      this.#serving = undefined
    }
  }

  /** The time from which ages are computed: for a request, the end of the second in which it was made. */
  #seconds(): number {
    return this.#serving === undefined ? this.#options.seconds() : this.#serving.fromSeconds + 1
  }

  /** The lowest bucket that may be evicted. Bucket 0 also contains blobs that were touched after the request. */
  get #youngest(): number {
    return this.#serving === undefined ? 0 : 1
  }

  async #shrink(): Promise<void> {
    while (!this.#isOver && this.#missingBytes() > 0) {
      const freed = this.#freedBytes
      await this.#round()
      if (this.#freedBytes === freed) return
    }
  }

  async #evictOlderThan(seconds: number): Promise<void> {
    const { catalogue } = this.#tools
    await catalogue.eachRecord(SLICE_RECORDS, (record) => {
      if (this.#isOver || catalogue.isRoot(record)) return
      if (this.#options.seconds() - catalogue.index.touch(record) < seconds) return
      catalogue.drop(record)
      this.#evictedBlobs++
    })
    this.#tell()
  }

  /** Rewrites packs with enough unused space; evicts nothing. */
  async #giveBackWaste(): Promise<void> {
    this.#startPacing()
    await this.#removeDeadSolos()
    const then = new Set(this.#tools.packs.all()) // packs that are created meanwhile are left for the next run
    while (!this.#isOver) {
      if (this.#isNeeded) await this.#needFirst()
      const pack = this.#mostToReclaim(undefined, NEVER, WORTHWHILE, then)
      if (pack === undefined) return
      await this.#rewriteOne(pack, NEVER)
    }
  }

  /** Reclaims for the store's own need, which continues even when the caller of the request cancels. */
  async #needFirst(): Promise<void> {
    const serving = this.#serving
    this.#serving = undefined
    await this.#run()
    this.#serving = serving
    this.#startPacing()
  }

  #progressOf({ from }: Asked, left: Pick<ReclaimProgress, 'pinnedBytes' | 'openFileBytes'>): ReclaimProgress {
    return {
      diskBytes: this.#tools.room.bytes,
      freedBytes: this.#freedBytes - from.freedBytes,
      copiedBytes: this.#copiedBytes - from.copiedBytes,
      evictedBlobs: this.#evictedBlobs - from.evictedBlobs,
      ...left,
      isDone: left !== NOT_YET,
    }
  }

  #tell(): void {
    const asked = this.#serving
    if (asked !== undefined && !asked.signal.aborted) asked.progress(this.#progressOf(asked, NOT_YET))
  }

  async #leftBehind() {
    const { rootBytes } = await Survey.take(this.#tools.catalogue, this.#options.seconds())
    return { pinnedBytes: rootBytes, openFileBytes: this.#tools.writer.current?.end ?? 0 }
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

  /** Takes one survey and reclaims by it. */
  async #round(): Promise<void> {
    const { catalogue, packs } = this.#tools
    const freed = this.#freedBytes
    await this.#removeDeadSolos()
    const survey = await Survey.take(catalogue, this.#seconds())
    this.#startPacing()
    let dead = 0
    for (const pack of packs.all()) dead += pack.end - pack.live
    const youngest = this.#youngest
    let bucket = Math.max(youngest, survey.bucketFor(Math.max(0, this.#missingBytes() - dead)))
    for (; this.#missingBytes() > 0 && !this.#isOver; bucket = Math.max(youngest, bucket - STEP)) {
      await this.#removeSolos(survey, bucket)
      await this.#rewrite(survey, bucket, 0.5)
      if (bucket === youngest) break
    }
    if (this.#missingBytes() > 0 && freed === this.#freedBytes) await this.#rewrite(survey, youngest, LAST_RESORT)
  }

  #startPacing(): void {
    this.#paceFrom = { ms: this.#options.clock.monotonic(), ingested: this.#options.ingested() }
    this.#copied = 0
  }

  #missingBytes(): number {
    const goal = this.#serving?.goal
    const { targetBytes } = this.#options
    const wanted = goal?.kind === 'size' ? goal.toBytes : targetBytes
    return this.#tools.room.bytes - (this.#isNeeded ? Math.min(wanted, targetBytes) : wanted)
  }

  async #removeDeadSolos(): Promise<void> {
    const dead = [...this.#tools.packs.all()].filter(({ isSolo, live }) => isSolo && live === 0)
    for (const pack of dead) await this.#remove(pack, { bytes: 0, evicted: 0, lost: 0 })
  }

  async #removeSolos(survey: Survey, bucket: number): Promise<void> {
    for (const solo of survey.solos) {
      if (solo.bucket < bucket || this.#missingBytes() <= 0 || this.#isOver) return
      const pack = this.#tools.packs.get(solo.pack)
      const isThere = pack !== undefined && this.#tools.catalogue.isAt(solo.record, { pack: solo.pack, unit: 0 })
      if (!isThere || !this.#mayGo(solo.record, bucket)) continue
      this.#tools.catalogue.drop(solo.record)
      this.#evictedBlobs++
      await this.#remove(pack, { bytes: 0, evicted: 1, lost: 0 })
    }
  }

  async #rewrite(survey: Survey, bucket: number, leastPart: number): Promise<void> {
    while (this.#missingBytes() > 0 && !this.#isOver) {
      const pack = this.#mostToReclaim(survey, bucket, leastPart)
      if (pack === undefined) return
      await this.#rewriteOne(pack, bucket)
    }
  }

  #mostToReclaim(
    survey: Survey | undefined,
    bucket: number,
    leastPart: number,
    among?: ReadonlySet<Pack>,
  ): Pack | undefined {
    let best: Pack | undefined
    let most = 0
    for (const pack of this.#tools.packs.all()) {
      if (pack.isSolo || pack === this.#tools.writer.current || among?.has(pack) === false) continue
      const gone = pack.end - pack.live + Math.min(pack.live, survey?.coldIn(pack.number, bucket) ?? 0)
      if (gone <= most || gone < pack.end * leastPart) continue
      best = pack
      most = gone
    }
    return best
  }

  async #rewriteOne(pack: Pack, bucket: number): Promise<void> {
    const { catalogue, writer } = this.#tools
    // With `power`, a blob enters the index only after its sync: a blob that is being written must not be lost with its
    // pack.
    if (pack.synced < pack.end) await writer.flush()
    const tally = await this.#copyWanted(pack, bucket)
    if (this.#isOver) return
    // The copies must survive a power cut before the source is removed.
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
    this.#tell()
  }

  #mayGo(record: number, bucket: number): boolean {
    const { catalogue } = this.#tools
    if (catalogue.isRoot(record)) return false
    return bucketOf(this.#seconds() - catalogue.index.touch(record)) >= bucket
  }

  async #copyWanted(pack: Pack, bucket: number): Promise<Tally> {
    const { catalogue, walk, writer } = this.#tools
    const tally: Tally = { bytes: 0, evicted: 0, lost: 0 }
    const batches = new Set<Batch>()
    let inFlight = 0
    for await (const { record, unit, content } of walk.live(pack)) {
      if (this.#isOver) break
      if (content === undefined) {
        catalogue.drop(record)
        tally.lost++
        continue
      }
      if (this.#mayGo(record, bucket)) {
        catalogue.drop(record)
        this.#evictedBlobs++
        tally.evicted++
        continue
      }
      const { header } = content
      const origin = { pack: header.originPack, unit: header.originUnit }
      const intent = { kind: 'copy', from: { pack: pack.number, unit }, origin } as const
      // The walk reuses its window, and the batch does not copy large payloads, so they are copied here.
      const batch = writer.add(header, header.form, Buffer.from(content.payload), intent)
      batches.add(batch)
      const bytes = catalogue.bytesOf(record)
      tally.bytes += bytes
      this.#copiedBytes += bytes
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
    this.#tell()
    const { clock, ingested } = this.#options
    while (!this.#isOver && this.#tools.room.waiting === 0) {
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

const NOT_YET = { pinnedBytes: 0, openFileBytes: 0 }

interface Tally {
  bytes: number
  evicted: number
  lost: number
}
