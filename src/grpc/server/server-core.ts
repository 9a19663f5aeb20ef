import type { Http2Connection } from '../http2/connection.ts'
import type { Http2Limits } from '../http2/limits.ts'
import type { Timing } from '../http2/timing.ts'
import type { Observer } from '../observer.ts'
import type { Peer } from '../service.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { ResponseBlocks } from './response-blocks.ts'
import type { ResponseBudget } from './response-budget.ts'
import type { Routes } from './routes.ts'

/** Shared by all connections of one server. */
export interface ServerCore {
  readonly routes: Routes
  readonly observer: Observer
  readonly limits: Http2Limits
  readonly timing: Timing
  readonly wheel: TimerWheel
  readonly budget: { used: number; readonly most: number }
  readonly http1Answer?: (() => string) | undefined
}

/** The parts of a connection that its calls use. */
export interface CallConnection {
  readonly core: ServerCore
  readonly peer: Peer
  readonly http2: Http2Connection
  readonly blocks: ResponseBlocks
  readonly room: ResponseBudget
  /** Whether so much output is queued that new calls must wait. */
  readonly isCongested: boolean
  isWithinBudget(): boolean
}
