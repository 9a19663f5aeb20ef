import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { ExecutedActionMetadata, ExecutionTime } from '../../model/action-result.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { type IsolationLevel, isolatesAs } from '../../model/isolation.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import type { RuntimeName } from '../../runtimes/run/runtime.ts'
import type { PreparedRoom, RoomPool } from '../rooms/prepared-room.ts'
import type { Executor } from './executor.ts'
import { type LocalTools, localExecutor } from './local-executor.ts'
import type { StageCacheOptions } from './stage-cache.ts'

/** Everything that the executor of one instance is composed from. */
export interface AttemptTools extends LocalTools {
  readonly clock: Clock
  /** The name of this worker, for the records. */
  readonly worker: string
  /**
   * The isolation of this worker's rooms, as the runtime measured it at the start. The default is the level of the
   * runtime's name.
   */
  readonly isolation?: IsolationLevel | undefined
  readonly toolchainOf?: StageCacheOptions['toolchainOf']
  /** Reads the results of compile stages from the server's cache. Without it every stage runs. */
  readonly cachingStages?: (inner: Executor, options: StageCacheOptions) => Executor
  /** Rooms in which an interpreter waits for code. */
  readonly warm?: RoomPool
  /** Empty rooms in which a shell waits for a command. */
  readonly ready?: RoomPool
}

/** The pipeline of every attempt on this worker, from the room outwards. */
export function attemptPipeline(tools: AttemptTools): Executor {
  const { warm, ready } = tools
  const local = localExecutor(tools) // prepares a room, runs the stages, collects the outputs
  const prepared = inPreparedRooms(local, [warm, ready]) // in a prepared room, if one fits
  const cached = tools.cachingStages?.(prepared, tools) ?? prepared // skips a compile stage with a cached result
  const chosen: Executor = {
    execute: (attempt, signal) =>
      (attempt.task.stages[0]?.cache === undefined ? prepared : cached).execute(attempt, signal),
  }
  return timed(isolating(chosen, tools), tools) // checks the isolation, and adds times to the result
}

/** Runs an attempt in a prepared room, if a pool has one that fits. The pools are asked in order. */
function inPreparedRooms(inner: Executor, pools: readonly (RoomPool | undefined)[]): Executor {
  const rooms = pools.filter((pool) => pool !== undefined)
  return {
    async execute(attempt, signal) {
      if (signal.aborted) return await inner.execute(attempt, signal)
      let room: PreparedRoom | undefined
      for (const pool of rooms) room ??= pool.take(attempt.task)
      const ended = rooms.map((pool) => pool.attemptBegan?.())
      try {
        return await inner.execute(room === undefined ? attempt : { ...attempt, room }, signal)
      } finally {
        for (const end of ended) end?.()
      }
    },
  }
}

/** Refuses a task that requires more isolation than the rooms of this worker have. */
const isolating = (inner: Executor, { runtime, isolation }: AttemptTools): Executor => ({
  async execute(attempt, signal) {
    mustIsolate(attempt.task, isolation ?? ISOLATION_OF[runtime.name], runtime.name)
    return await inner.execute(attempt, signal)
  },
})

const ISOLATION_OF: Readonly<Record<RuntimeName, IsolationLevel>> = {
  bare: 'none',
  unshare: 'namespaces',
  sandbox: 'sandbox',
  docker: 'container',
  apptainer: 'container',
}

/** The scheduler matches the level by a property; this check covers a task that was assigned here by mistake. */
function mustIsolate({ isolation, places = [] }: CommandTask, here: IsolationLevel, runtime: RuntimeName): void {
  if (isolation !== 'none' && !isolatesAs(here, isolation))
    throw new FaultError({
      kind: 'unavailable',
      what: `a task asks for a room with isolation ${isolation}, and here it is ${here}`,
    })
  if (places.length > 0 && runtime !== 'docker')
    throw new FaultError({ kind: 'unavailable', what: `a room of ${runtime} is shown in one place only` })
}

/** Adds to each result the worker's name and the times at which the parts of the attempt began and ended. */
const timed = (inner: Executor, { clock, worker }: AttemptTools): Executor => ({
  async execute(attempt, signal) {
    const { queuedAt } = attempt
    const times: { -readonly [K in keyof ExecutedActionMetadata['times']]: Timestamp } = {}
    if (queuedAt !== undefined) times.queued = timestampOf(queuedAt)
    let latest = queuedAt ?? 0
    // Clients subtract these times from each other, so none is before the one that was noted before it.
    const note = (...names: readonly ExecutionTime[]): void => {
      latest = Math.max(latest, clock.now())
      for (const name of names) times[name] = timestampOf(latest)
    }
    note('workerStart')
    const result = await inner.execute({ ...attempt, note }, signal)
    note('workerCompleted')
    const { virtualDurationMs, auxiliary = [] } = result.metadata ?? {}
    return { ...result, metadata: { worker, times, virtualDurationMs, auxiliary } }
  },
})

const timestampOf = (ms: number): Timestamp => {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }
}
