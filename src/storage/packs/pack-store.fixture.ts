import { type ManualClock, manualClock } from '../../testing/manual-clock.ts'
import type { FileLayer } from './file-layer.ts'
import { type PackEvents, unheardEvents } from './pack-events.ts'
import { type PackStore, type PackStoreOptions, packStore } from './pack-store.ts'

export interface Opened {
  readonly store: PackStore
  readonly clock: ManualClock
  /** The names of the recorded events, in order. */
  readonly heard: string[]
}

/** A store with small packs and no scrub, so that its events are predictable. */
export async function openOn(files: FileLayer, options: Partial<PackStoreOptions> = {}): Promise<Opened> {
  const clock = manualClock()
  const heard: string[] = []
  const events: PackEvents = {
    ...unheardEvents,
    recovered: () => void heard.push('recovered'),
    reclaimed: ({ pack }) => void heard.push(`reclaimed ${pack}`),
    lost: (blobs) => void heard.push(`lost ${blobs}`),
    failed: (_, doing) => void heard.push(`failed ${doing}`),
    scrubbed: () => void heard.push('scrubbed'),
  }
  const small = { packBytes: 64 * 1024, soloBytes: 16 * 1024, scrubBytesPerSecond: 0 }
  const fixed = { files, clock, events, durability: 'process', maxBytes: 2 ** 40 } as const
  return { store: await packStore({ ...fixed, ...small, ...options }), clock, heard }
}

/** Lets pending work proceed for this many loop turns. */
export const turns = async (count = 20): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
