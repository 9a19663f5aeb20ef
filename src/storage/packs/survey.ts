/**
 * Counts the bytes of all packs by the time since their last touch; reclaiming uses these counts. Ages are counted in
 * buckets, each a fifth wider than the one before. So one pass over the index serves any threshold, and 20 million
 * blobs need not be sorted. The pass yields to the event loop every SLICE_RECORDS records.
 */
import type { Catalogue } from './catalogue.ts'

const BUCKETS_PER_DOUBLING = 4
const BUCKETS = 33 * BUCKETS_PER_DOUBLING
const SLICE_RECORDS = 16_384

export const bucketOf = (ageSeconds: number): number =>
  Math.floor(Math.log2(Math.max(0, ageSeconds) + 1) * BUCKETS_PER_DOUBLING)

export interface SoloAge {
  readonly pack: number
  readonly record: number
  readonly bucket: number
}

export class Survey {
  /** Bytes that may be evicted, by age, of all packs. */
  readonly all = new Float64Array(BUCKETS)
  readonly byPack = new Map<number, Float64Array>()
  readonly solos: SoloAge[] = []
  rootBytes = 0

  /** The highest bucket from which on all blobs together have at least this size. */
  bucketFor(bytes: number): number {
    let sum = 0
    for (let bucket = BUCKETS - 1; bucket > 0; bucket--) {
      sum += this.all[bucket] as number
      if (sum >= bytes) return bucket
    }
    return 0
  }

  /** Bytes of a pack's live records that are this old or older and may be evicted. */
  coldIn(pack: number, bucket: number): number {
    const ages = this.byPack.get(pack)
    let sum = 0
    if (ages !== undefined) for (let i = bucket; i < BUCKETS; i++) sum += ages[i] as number
    return sum
  }

  #add(catalogue: Catalogue, record: number, now: number): void {
    const bytes = catalogue.bytesOf(record)
    if (catalogue.isRoot(record)) {
      this.rootBytes += bytes
      return
    }
    const pack = catalogue.packOf(record)
    if (pack === undefined) return
    const bucket = Math.min(BUCKETS - 1, bucketOf(now - catalogue.index.touch(record)))
    this.all[bucket] = (this.all[bucket] as number) + bytes
    if (pack.isSolo) {
      this.solos.push({ pack: pack.number, record, bucket })
      return
    }
    let ages = this.byPack.get(pack.number)
    if (ages === undefined) {
      ages = new Float64Array(BUCKETS)
      this.byPack.set(pack.number, ages)
    }
    ages[bucket] = (ages[bucket] as number) + bytes
  }

  static async take(catalogue: Catalogue, now: number): Promise<Survey> {
    const survey = new Survey()
    await catalogue.eachRecord(SLICE_RECORDS, (record) => survey.#add(catalogue, record, now))
    survey.solos.sort((one, other) => other.bucket - one.bucket || one.pack - other.pack)
    return survey
  }
}
