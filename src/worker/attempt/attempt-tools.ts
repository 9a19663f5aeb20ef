import type { IsolatingOptions } from './isolating.ts'
import type { LocalTools } from './local-executor.ts'
import type { RoomPool } from './prepared-rooms.ts'
import type { StageCacheOptions } from './stage-cache.ts'
import type { TimedOptions } from './timed.ts'

/** Everything that the executor of one instance is composed from. */
export interface AttemptTools extends LocalTools, TimedOptions, Pick<IsolatingOptions, 'isolation'> {
  readonly toolchainOf?: StageCacheOptions['toolchainOf']
  /** Rooms in which an interpreter waits for code. */
  readonly warm?: RoomPool
  /** Empty rooms in which a shell waits for a command. */
  readonly ready?: RoomPool
}
