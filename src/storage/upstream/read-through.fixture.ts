import { type ManualClock, manualClock } from '../../testing/manual-clock.ts'
import type { BlobStore } from '../blob-store.ts'
import { memoryStore } from '../memory-store.ts'
import { guardedUpstream, silentUpstream, type UpstreamEvents, type WhenDown } from './outage.ts'
import { readThrough } from './read-through.ts'

export interface Setting {
  readonly local?: BlobStore
  readonly upstream?: BlobStore
  readonly writeThrough?: boolean
  readonly whenDown?: WhenDown
  readonly clock?: ManualClock
  readonly events?: Partial<UpstreamEvents>
}

/** A read-through store in memory, with a clock that advances only on request. */
export function through(setting: Setting = {}): BlobStore {
  const { local = memoryStore(), upstream = memoryStore(), writeThrough = false, whenDown = 'absent' } = setting
  const clock = setting.clock ?? manualClock()
  const events = { ...silentUpstream, ...setting.events }
  return readThrough({ upstream, asking: guardedUpstream({ clock, events, whenDown }), events, clock, writeThrough })(
    local,
  )
}
