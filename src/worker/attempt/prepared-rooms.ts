import type { CommandTask } from '../../model/command-task.ts'
import type { OpenRoom } from '../rooms/rooms.ts'
import type { Executor } from './executor.ts'

/** Rooms that are made before a task needs them. */
export interface RoomPool {
  /** A room that fits the task; undefined when the pool has none for it. */
  take(task: CommandTask): OpenRoom | undefined | Promise<OpenRoom | undefined>
}

/** Runs an attempt in a prepared room, where one of the pools has one that fits; the first pool is asked first. */
export const inPreparedRooms = (inner: Executor, pools: readonly (RoomPool | undefined)[]): Executor => ({
  async execute(attempt, signal) {
    const room = signal.aborted ? undefined : await takenFrom(pools, attempt.task)
    return await inner.execute(room === undefined ? attempt : { ...attempt, room }, signal)
  },
})

async function takenFrom(pools: readonly (RoomPool | undefined)[], task: CommandTask): Promise<OpenRoom | undefined> {
  for (const pool of pools) {
    const room = await pool?.take(task)
    if (room !== undefined) return room
  }
  return undefined
}
