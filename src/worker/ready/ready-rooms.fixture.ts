import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandResult, type CommandTask, commandTaskOf, type StageWish } from '../../model/command-task.ts'
import { realClock } from '../../runtimes/rooms.fixture.ts'
import { IS_ROOT, sandboxBy } from '../../runtimes/sandbox/sandbox.fixture.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import type { AttemptTools } from '../attempt.ts'
import { remoteTarget } from '../cas/remote-target.ts'
import { attemptCommand } from '../command-task/attempt-command.ts'
import { openFileCache } from '../inputs/file-cache.ts'
import { safePlacement } from '../inputs/place-inputs.ts'
import { inputStage } from '../inputs/stage-inputs.ts'
import { storeSource } from '../inputs/store-source.ts'
import { openRooms } from '../rooms.ts'
import { scratch } from '../trees.fixture.ts'
import { type ReadyRooms, readyRooms } from './ready-rooms.ts'

const USER = IS_ROOT ? { uid: 65_521, gid: 65_521 } : undefined

export const stepOf = (stage: Partial<StageWish>, more: Partial<CommandTask> = {}): CommandTask =>
  commandTaskOf({
    stages: [{ name: 'run', argv: ['true'], ...stage }],
    workingDirectory: 'out',
    isolation: 'namespaces',
    outputs: { globs: ['*'] },
    ...more,
  })

/** A worker's tools in sandboxes, with and without rooms that are made beforehand. */
export async function readyBench() {
  const folder = scratch()
  const bulk = threadPool(1)
  const sandbox = sandboxBy({ way: 'spawner', useGroups: true })
  const probe = await sandbox.runtime.probe()
  const store = memoryStore()
  const cache = await openFileCache(join(folder.path, 'cache'), 1 << 20)
  const rooms = await openRooms(join(folder.path, 'rooms'), USER)
  const rules = { mostNodes: 10_000, absoluteSymlinks: 'allowed' } as const
  const placement = safePlacement(USER, IS_ROOT ? 0 : 1)
  const staged = { source: storeSource(store), cache, bulk, placement, user: USER, rules, directoryBytes: 1 << 20 }
  const cold: AttemptTools = {
    ...{ rooms, inputs: inputStage(staged), runtime: sandbox.runtime, target: remoteTarget(store), clock: realClock },
    outputs: { bulk, rules: { ...rules, mostBytes: 1 << 30 } },
    ...{ worker: 'w1', limits: {}, inlineBytes: 0 },
  }
  let names = 0
  // biome-ignore lint/style/noRestrictedGlobals: several test files run at a time on one machine
  const roomName = (): string => `ready-test-${process.pid}-${++names}`
  const go = (tools: AttemptTools, task: CommandTask, signal = new AbortController().signal): Promise<CommandResult> =>
    attemptCommand(
      { name: roomName(), task, queuedAt: undefined, hooks: {}, timeoutMs: undefined, begun: undefined },
      tools,
      signal,
    )
  const ready = (most: number): ReadyRooms =>
    readyRooms({ rooms, runtime: sandbox.runtime, limits: {}, most, roomName, clock: realClock })
  return {
    works: probe.works,
    ready,
    cold: (task: CommandTask) => go(cold, task),
    /** Answers also whether its room was one that waited. */
    async through(pool: ReadyRooms, task: CommandTask, signal?: AbortSignal) {
      let wasWaiting = false
      const taking = {
        async take(wanted: CommandTask) {
          const before = pool.waiting
          const room = await pool.take(wanted)
          wasWaiting = pool.waiting < before
          return room
        },
      }
      return { result: await go({ ...cold, runtime: pool.runtime, ready: taking }, task, signal), wasWaiting }
    },
    roomsLeft: async (): Promise<string[]> => {
      await rooms.cleared()
      return readdirSync(join(folder.path, 'rooms'))
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close()
      await rooms.cleared()
      await cache.close()
      await bulk.close()
      folder[Symbol.dispose]()
    },
  }
}
