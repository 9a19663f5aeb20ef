import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandResult, CommandTask } from '../model/command-task.ts'
import { IS_ROOT } from '../runtimes/bare/bare.fixture.ts'
import { realClock } from '../runtimes/run/rooms.fixture.ts'
import { sandboxBy } from '../runtimes/sandbox/sandbox.fixture.ts'
import { threadPool } from '../storage/bulk/thread-pool.ts'
import { memoryStore } from '../storage/memory-store.ts'
import { attemptCommand } from './attempt/executor.fixture.ts'
import type { StageHooks } from './attempt/executor.ts'
import { gridAttempts } from './attempt/grid-attempts.ts'
import type { AttemptTools } from './attempt/pipeline.ts'
import { remoteTarget } from './cas/remote-target.ts'
import { openFileCache } from './inputs/file-cache.ts'
import { safePlacement } from './inputs/place-inputs.ts'
import { inputStage } from './inputs/stage-inputs.ts'
import { storeSource } from './inputs/store-source.ts'
import { outputCollector } from './outputs/collect-outputs.ts'
import { openRooms, sameUser, userPerRoom } from './rooms/rooms.ts'
import { scratch } from './trees.fixture.ts'

/** User ids that no worker and no other test uses. */
const USER_IDS = 1_878_000_000
const USER = IS_ROOT ? { uid: 65_521, gid: 65_521 } : undefined

export interface GoOptions {
  readonly hooks?: StageHooks | undefined
  readonly signal?: AbortSignal | undefined
}

/** A worker's tools in sandboxes, where each room is created for its task. */
export async function sandboxedTools(name: string, by: typeof sandboxBy = sandboxBy) {
  const folder = scratch()
  const bulk = threadPool(1)
  const sandbox = by({ way: 'spawner', useGroups: true })
  const probe = await sandbox.runtime.probe()
  const store = memoryStore()
  const cache = await openFileCache(join(folder.path, 'cache'), 1 << 20)
  const rooms = await openRooms(join(folder.path, 'rooms'), IS_ROOT ? userPerRoom(USER_IDS) : sameUser(undefined))
  const rules = { mostNodes: 10_000, absoluteSymlinks: 'allowed' } as const
  const placement = safePlacement(USER, IS_ROOT ? 0 : 1)
  const staged = { source: storeSource(store), cache, bulk, placement, user: USER, rules, directoryBytes: 1 << 20 }
  const tools: AttemptTools = {
    ...{ rooms, inputs: inputStage(staged), runtime: sandbox.runtime, target: remoteTarget(store), clock: realClock },
    ...gridAttempts,
    outputs: outputCollector({ bulk, rules: { ...rules, mostBytes: 1 << 30 } }),
    ...{ worker: 'w1', limits: {}, inlineBytes: 0 },
  }
  let names = 0
  // biome-ignore lint/style/noRestrictedGlobals: several test files run at a time on one machine
  const namePrefix = (): string => `${name}-${process.pid}-${++names}`
  return {
    works: probe.works,
    tools,
    /** Unique on this machine. */
    namePrefix,
    /** Runs one task with these tools. */
    go: (by: AttemptTools, task: CommandTask, { hooks = {}, signal }: GoOptions = {}): Promise<CommandResult> =>
      attemptCommand({ name: namePrefix(), task, hooks }, by, signal ?? new AbortController().signal),
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
