import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { silentLog } from '../../base/log.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import { snippetTask } from '../../languages/snippet-task.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandResult, CommandTask } from '../../model/command-task.ts'
import { snippetOf } from '../../model/snippet.ts'
import { realClock } from '../../runtimes/rooms.fixture.ts'
import { IS_ROOT, sandboxBy } from '../../runtimes/sandbox/sandbox.fixture.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import type { AttemptTools } from '../attempt.ts'
import { remoteTarget } from '../cas/remote-target.ts'
import { attemptCommand } from '../command-task/attempt-command.ts'
import type { StageHooks } from '../command-task/run-stages.ts'
import { openFileCache } from '../inputs/file-cache.ts'
import { safePlacement } from '../inputs/place-inputs.ts'
import { inputStage } from '../inputs/stage-inputs.ts'
import { storeSource } from '../inputs/store-source.ts'
import { openRooms } from '../rooms.ts'
import { scratch } from '../trees.fixture.ts'
import { type WarmRoomsOptions, warmRooms } from './warm-rooms.ts'

const languages = loadLanguages()
export const languageOf = (name: string) => languages.find((each) => each.name === name)

export interface Program {
  readonly language: 'python' | 'javascript'
  /** The first is the one that is run; with a name of its own when it is said. */
  readonly files: readonly (string | readonly [name: string, code: string])[]
  readonly stdin?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Limits
}

/** As the door of snippets would write it. */
export function taskOf({ language, files, stdin, args = [], env = {}, limits = {} }: Program): CommandTask {
  const found = languageOf(language)
  if (found === undefined) throw new Error(`there is no ${language}`)
  const named = files.map((file) => (typeof file === 'string' ? (['', file] as const) : file))
  const request = snippetOf({
    language,
    files: named.map(([name, code]) => ({ name, contents: Buffer.from(code) })),
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    runLimits: limits,
    ...(stdin !== undefined && { stdin: Buffer.from(stdin) }),
  })
  return snippetTask(request, found, undefined)
}

const USER = IS_ROOT ? { uid: 65_521, gid: 65_521 } : undefined

/** A worker's tools in sandboxes, with and without rooms that are warm. */
export async function warmBench(by: typeof sandboxBy = sandboxBy) {
  const folder = scratch()
  const bulk = threadPool(1)
  const sandbox = by({ way: 'spawner', useGroups: true })
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
  const roomName = (): string => `warm-test-${process.pid}-${++names}`
  const go = (tools: AttemptTools, task: CommandTask, hooks: StageHooks = {}): Promise<CommandResult> =>
    attemptCommand(
      { name: roomName(), task, queuedAt: undefined, hooks, timeoutMs: undefined, begun: undefined },
      tools,
      new AbortController().signal,
    )
  return {
    works: probe.works,
    cold: (task: CommandTask, hooks?: StageHooks) => go(cold, task, hooks),
    /** Rooms that are warm, and the way through them. */
    pool: (more: Partial<WarmRoomsOptions> = {}) => poolOf({ cold, go, roomName }, more),
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

interface PoolParts {
  readonly cold: AttemptTools
  readonly go: (tools: AttemptTools, task: CommandTask, hooks?: StageHooks) => Promise<CommandResult>
  readonly roomName: () => string
}

function poolOf({ cold, go, roomName }: PoolParts, more: Partial<WarmRoomsOptions>) {
  const { rooms, runtime, clock } = cold
  const warm = warmRooms({
    ...{ rooms, runtime, languageOf, limits: {}, most: 1, slots: 4, isShort: () => false, roomName, clock },
    log: silentLog,
    ...more,
  })
  let served = 0
  const taking = {
    take(task: CommandTask) {
      const room = warm.take(task)
      if (room !== undefined) served++
      return room
    },
  }
  return {
    warm,
    /** How many runs found an interpreter waiting. */
    served: () => served,
    run: (task: CommandTask, hooks?: StageHooks) =>
      go({ ...cold, inputs: warm.inputs(cold.inputs), runtime: warm.runtime, warm: taking }, task, hooks),
    [Symbol.asyncDispose]: () => warm.close(),
  }
}
