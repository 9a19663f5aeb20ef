import type { Registry } from 'prom-client'
import type { StoreMeter, StoreVerb } from '../../storage/metered.ts'
import type { PackFigures } from '../../storage/packs/reclaim-admin.ts'
import { DurationHistogram } from './durations.ts'
import { expose } from './exposition.ts'

const VERBS: readonly StoreVerb[] = ['missing', 'readMany', 'read', 'writeMany', 'write']

/** The counters of the blob stores, in plain fields that a scrape reads. */
export function storeFigures(registry: Registry): StoreMeter {
  const hits = tally()
  const misses = tally()
  const seconds = Object.fromEntries(VERBS.map((verb) => [verb, new DurationHistogram()])) as Record<
    StoreVerb,
    DurationHistogram
  >
  const bytes = { read: 0, written: 0 }

  const perVerb = (counts: Record<StoreVerb, number>) =>
    VERBS.map((verb) => ({ labels: { verb }, value: counts[verb] }))
  expose(registry, {
    name: 'windlass_cas_hits_total',
    help: 'Requested blobs that were in the store.',
    type: 'counter',
    samples: () => perVerb(hits),
  })
  expose(registry, {
    name: 'windlass_cas_misses_total',
    help: 'Requested blobs that were not in the store.',
    type: 'counter',
    samples: () => perVerb(misses),
  })
  expose(registry, {
    name: 'windlass_cas_bytes_total',
    help: 'Bytes of blobs that were read and written.',
    type: 'counter',
    samples: () => Object.entries(bytes).map(([direction, value]) => ({ labels: { direction }, value })),
  })
  expose(registry, {
    name: 'windlass_cas_seconds',
    help: 'Duration of store calls in seconds, by kind of call.',
    type: 'histogram',
    samples: () => VERBS.flatMap((verb) => [...seconds[verb].samples('windlass_cas_seconds', { verb })]),
  })
  return {
    hits(verb, blobs) {
      hits[verb] += blobs
    },
    misses(verb, blobs) {
      misses[verb] += blobs
    },
    readBytes(count) {
      bytes.read += count
    },
    writtenBytes(count) {
      bytes.written += count
    },
    took: (verb, ms) => seconds[verb].add(ms),
  }
}

const tally = (): Record<StoreVerb, number> => ({ missing: 0, readMany: 0, read: 0, writeMany: 0, write: 0 })

/** The contents of the packs, read at each scrape. */
export function packGauges(registry: Registry, figures: () => PackFigures): void {
  const gauges: Record<keyof PackFigures, string> = {
    blobs: 'Stored blobs.',
    liveBytes: 'Bytes of stored blobs.',
    diskBytes: 'Disk space of the pack files in bytes.',
    packs: 'Pack files.',
    roots: 'Pinned blobs.',
  }
  for (const [key, help] of Object.entries(gauges) as [keyof PackFigures, string][]) {
    const name = `windlass_packs_${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
    expose(registry, { name, help, type: 'gauge', samples: () => [{ labels: {}, value: figures()[key] }] })
  }
}
