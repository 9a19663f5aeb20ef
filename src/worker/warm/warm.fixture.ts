import { silentLog } from '../../base/log.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import { snippetTask } from '../../languages/snippet-task.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandResult, CommandTask } from '../../model/command-task.ts'
import { snippetOf } from '../../model/snippet.ts'
import type { sandboxBy } from '../../runtimes/sandbox/sandbox.fixture.ts'
import type { StageHooks } from '../attempt/executor.ts'
import type { AttemptTools } from '../attempt/pipeline.ts'
import { type GoOptions, sandboxedTools } from '../sandboxed-tools.fixture.ts'
import { type WarmRoomsOptions, warmRooms } from './warm-rooms.ts'

const languages = loadLanguages()
const byName = new Map(languages.map((each) => [each.name, each]))
export const languageOf = (name: string) => byName.get(name)

export interface Program {
  readonly language: 'python' | 'javascript'
  /** The first one is run; with its own name when one is given. */
  readonly files: readonly (string | readonly [name: string, code: string])[]
  readonly stdin?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Limits
}

/** As the snippets door creates it. */
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

/** A worker's tools in sandboxes, with and without warm rooms. */
export async function warmBench(by?: typeof sandboxBy) {
  const { tools: cold, go, namePrefix, ...bench } = await sandboxedTools('warm-test', by)
  return {
    ...bench,
    cold: (task: CommandTask, hooks?: StageHooks) => go(cold, task, { hooks }),
    /** Warm rooms, and a function that runs tasks in them. */
    pool: (more: Partial<WarmRoomsOptions> = {}) => poolOf({ cold, go, namePrefix: namePrefix() }, more),
  }
}

interface PoolParts {
  readonly cold: AttemptTools
  readonly go: (tools: AttemptTools, task: CommandTask, options?: GoOptions) => Promise<CommandResult>
  readonly namePrefix: string
}

function poolOf({ cold, go, namePrefix }: PoolParts, more: Partial<WarmRoomsOptions>) {
  const { rooms, runtime, clock } = cold
  const warm = warmRooms({
    ...{ rooms, runtime, languages: byName, limits: {}, most: 1, slots: 4, isShort: () => false, namePrefix, clock },
    log: silentLog,
    ...more,
  })
  let served = 0
  const counting = {
    attemptBegan: () => warm.attemptBegan(),
    take(task: CommandTask) {
      const room = warm.take(task)
      if (room !== undefined) served++
      return room
    },
  }
  return {
    warm,
    /** The number of tasks that found an interpreter waiting. */
    served: () => served,
    run: (task: CommandTask, hooks?: StageHooks) => go({ ...cold, warm: counting }, task, { hooks }),
    [Symbol.asyncDispose]: () => warm.close(),
  }
}
