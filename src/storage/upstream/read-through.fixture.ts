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

/** A store that reads through, on memory and with a clock that stands still unless told otherwise. */
export function through(setting: Setting = {}): BlobStore {
  const { local = memoryStore(), upstream = memoryStore(), writeThrough = false, whenDown = 'absent' } = setting
  const clock = setting.clock ?? manualClock()
  const events = { ...silentUpstream, ...setting.events }
  return readThrough({ upstream, asking: guardedUpstream({ clock, events, whenDown }), events, clock, writeThrough })(
    local,
  )
}
