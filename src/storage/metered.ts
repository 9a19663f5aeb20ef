import type { Clock } from '../base/clock.ts'
import type { Digest, DigestList } from '../base/digest.ts'
import type { BlobReader, BlobSink, BlobStore, BlobWriter } from './blob-store.ts'

/** `find` is counted as `missing`, because both test whether a blob is stored. */
export type StoreVerb = Exclude<keyof BlobStore, 'find'>

/** The counters of a store. */
export interface StoreMeter {
  hits(verb: StoreVerb, blobs: number): void
  misses(verb: StoreVerb, blobs: number): void
  readBytes(bytes: number): void
  writtenBytes(bytes: number): void
  /** The time of a call. A read ends with its last piece, and a write with its commit. */
  took(verb: StoreVerb, ms: number): void
}

/** Counts hits, misses, bytes and times of a store. */
export const metered =
  (meter: StoreMeter, clock: Clock) =>
  (inner: BlobStore): BlobStore => ({
    missing(list, absent) {
      const start = clock.monotonic()
      const count = () => {
        meter.took('missing', clock.monotonic() - start)
        countAbsent(meter, list, absent)
      }
      const answered = inner.missing(list, absent)
      return answered === undefined ? count() : answered.then(count)
    },
    find(fn, hash) {
      const start = clock.monotonic()
      const count = (digest: Digest | undefined) => {
        meter.took('missing', clock.monotonic() - start)
        if (digest === undefined) meter.misses('missing', 1)
        else meter.hits('missing', 1)
        return digest
      }
      const answered = inner.find(fn, hash)
      return answered instanceof Promise ? answered.then(count) : count(answered)
    },
    readMany(list, into) {
      const start = clock.monotonic()
      const tally = new Tally(into)
      const count = () => {
        meter.took('readMany', clock.monotonic() - start)
        tally.report(meter)
      }
      const answered = inner.readMany(list, tally)
      return answered === undefined ? count() : answered.then(count)
    },
    async read(digest, range, signal) {
      const start = clock.monotonic()
      const reader = await inner.read(digest, range, signal)
      if (reader === undefined) meter.misses('read', 1)
      else meter.hits('read', 1)
      return reader && meteredReader(reader, meter, () => meter.took('read', clock.monotonic() - start))
    },
    async writeMany(list, blobs) {
      const start = clock.monotonic()
      await inner.writeMany(list, blobs)
      meter.took('writeMany', clock.monotonic() - start)
      meter.writtenBytes(blobs.reduce((sum, { length }) => sum + length, 0))
    },
    write(digest, form) {
      const start = clock.monotonic()
      return meteredWriter(inner.write(digest, form), meter, () => meter.took('write', clock.monotonic() - start))
    },
  })

function countAbsent(meter: StoreMeter, list: DigestList, absent: Uint8Array): void {
  let misses = 0
  for (let i = 0; i < list.count; i++) misses += absent[i] as number
  meter.misses('missing', misses)
  meter.hits('missing', list.count - misses)
}

class Tally implements BlobSink {
  readonly #into: BlobSink
  #hits = 0
  #misses = 0
  #bytes = 0

  constructor(into: BlobSink) {
    this.#into = into
  }

  found(index: number, bytes: Uint8Array): void {
    this.#hits++
    this.#bytes += bytes.length
    this.#into.found(index, bytes)
  }

  absent(index: number): void {
    this.#misses++
    this.#into.absent(index)
  }

  report(meter: StoreMeter): void {
    meter.hits('readMany', this.#hits)
    meter.misses('readMany', this.#misses)
    meter.readBytes(this.#bytes)
  }
}

function meteredReader(reader: BlobReader, meter: StoreMeter, ended: () => void): BlobReader {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of reader.pieces) {
        meter.readBytes(piece.length)
        yield piece
      }
    } finally {
      ended()
    }
  }
  return { form: reader.form, pieces: pieces() }
}

const meteredWriter = (writer: BlobWriter, meter: StoreMeter, ended: () => void): BlobWriter => {
  let bytes = 0
  return {
    write(piece) {
      bytes += piece.length
      return writer.write(piece)
    },
    async commit() {
      await writer.commit()
      meter.writtenBytes(bytes)
      ended()
    },
    abort: () => writer.abort(),
  }
}
