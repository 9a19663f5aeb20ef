import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { snippetTask } from '../../languages/snippet-task.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { Language } from '../../model/language.ts'
import { snippetOf } from '../../model/snippet.ts'
import type { RuntimeName } from '../../runtimes/run/runtime.ts'
import { warmRooms } from '../../worker/warm/warm-rooms.ts'
import type { WorkerLanguages } from './languages.ts'
import type { InstanceTools } from './tools.ts'

export interface WorkerWarmRoomsOptions {
  /** The number of waiting interpreters; undefined to derive it from the slots. */
  readonly wanted: number | undefined
  readonly slots: number
  readonly spoken: Pick<WorkerLanguages, 'all' | 'within'>
  readonly here: InstanceTools
  readonly clock: Clock
  readonly log: Log
}

export interface WorkerWarmRooms {
  /** The same tools, with waiting interpreters for tasks. */
  within(here: InstanceTools): InstanceTools
  close(): Promise<void>
}

const NONE: WorkerWarmRooms = { within: (here) => here, async close() {} }

/** The runtimes that can keep rooms ready. Keeping a container costs more than starting its interpreter. */
const MAKERS: readonly RuntimeName[] = ['sandbox', 'unshare']
const MOST = 8
/** With less free memory than this, no interpreter waits. */
const LEAST_FREE_BYTES = 512 * 1024 ** 2

/** Interpreters that wait for code on this worker, for languages that support it. */
export function openWarmRooms(options: WorkerWarmRoomsOptions): WorkerWarmRooms {
  const { wanted, slots, spoken, here, clock, log } = options
  const languages = spoken.all
  const most = wanted ?? Math.min(2 * slots, MOST)
  const { rooms, runtime, limits } = spoken.within(here).tools
  const able = languages.filter(({ warm }) => warm !== undefined)
  const tasks = able.flatMap(likelyTasks)
  if (most === 0 || tasks.length === 0 || !MAKERS.includes(runtime.name)) return NONE
  const warm = warmRooms({
    ...{ rooms, runtime, limits, most, slots, clock, log },
    languages: new Map(able.map((language) => [language.name, language])),
    isShort: () => process.availableMemory() < LEAST_FREE_BYTES,
    namePrefix: `warm-${process.pid}`,
  })
  warm.expect(tasks)
  return {
    within: (given) => ({ ...given, tools: { ...given.tools, warm } }),
    close: () => warm.close(),
  }
}

/** The request of a caller who sends only code, or code and its input. */
const likelyTasks = (language: Language): CommandTask[] =>
  [{}, { stdin: new Uint8Array() }].map((more) =>
    snippetTask(
      snippetOf({ language: language.name, files: [{ name: '', contents: new Uint8Array() }], ...more }),
      language,
      undefined,
    ),
  )
