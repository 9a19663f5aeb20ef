/**
 * Measures the cost of queued tasks and idle workers: memory per queued task, a start with many open tasks, and the CPU
 * time of 1,000 workers whose polls return no task, with an empty queue and a long one. Each part runs in a separate
 * process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startChild } from '../child.ts'
import type { CoreAnswer, CoreQuestion } from './servers/core.ts'

const BARS = { taskBytes: 1500, startCpuMs: 1500, pollCpuMs: 20 } as const
const WORKERS = 1000

interface Row {
  readonly what: string
  readonly unit: string
  readonly measured: number
  readonly most: number
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      tasks: { type: 'string' },
      folder: { type: 'string', default: tmpdir() },
    },
  })
  const tasks = Number(values.tasks ?? (values.smoke ? 2000 : 100_000))
  const ms = values.smoke ? 1000 : 10_000
  const folder = mkdtempSync(join(values.folder, 'windlass-bench-memory-'))
  try {
    console.log(`${tasks} queued tasks with 400 bytes each, ${WORKERS} workers, load ${loadavg()[0]?.toFixed(1)}\n`)
    const rows = [...(await queueAndPoll(folder, tasks, ms)), await restart(folder, tasks, ms)].flat()
    console.log('| | measured | bar | |\n|---|---:|---:|---|')
    for (const row of rows) console.log(lineOf(row, values.smoke))
    return values.smoke || rows.every(isMet) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const isMet = ({ measured, most }: Row): boolean => measured <= most

const lineOf = (row: Row, smoke: boolean): string => {
  const { what, unit, measured, most } = row
  const verdict = smoke ? 'not judged' : isMet(row) ? 'met' : 'missed'
  return `| ${what} | ${Math.round(measured)} ${unit} | ${Math.round(most)} ${unit} | ${verdict} |`
}

let rssWhenQueued = 0

async function queueAndPoll(folder: string, tasks: number, ms: number): Promise<Row[]> {
  await using child = startChild(new URL('./servers/core.ts', import.meta.url))
  const ask = (question: CoreQuestion): Promise<CoreAnswer> => child.ask<CoreAnswer>(question)
  await ask({ ask: 'open', folder })
  await ask({ ask: 'hire', workers: WORKERS })
  await ask({ ask: 'observe', ms: 2000 }) // warms up the JIT
  const empty = await ask({ ask: 'observe', ms })
  await ask({ ask: 'submit', tasks })
  await ask({ ask: 'observe', ms }) // V8 returns memory when the process is idle again
  const queued = await ask({ ask: 'observe', ms })
  rssWhenQueued = queued.rssBytes
  await ask({ ask: 'close' })
  const perTask = (of: 'heapBytes' | 'rssBytes'): number => (queued[of] - empty[of]) / tasks
  const polls = (what: string, { cpuMs, wallMs }: CoreAnswer): Row => ({
    what: `CPU per second of ${WORKERS} polls, ${what}`,
    unit: 'ms',
    measured: (cpuMs / wallMs) * 1000,
    most: BARS.pollCpuMs,
  })
  return [
    { what: 'main heap and buffers per queued task', unit: 'B', measured: perTask('heapBytes'), most: BARS.taskBytes },
    { what: 'RSS per queued task', unit: 'B', measured: perTask('rssBytes'), most: BARS.taskBytes },
    polls('queue empty', empty),
    polls(`${tasks} queued`, queued),
  ]
}

async function restart(folder: string, tasks: number, ms: number): Promise<Row[]> {
  await using child = startChild(new URL('./servers/core.ts', import.meta.url))
  const started = await child.ask<CoreAnswer>({ ask: 'open', folder } satisfies CoreQuestion)
  const settled = await child.ask<CoreAnswer>({ ask: 'observe', ms: 2 * ms } satisfies CoreQuestion)
  await child.ask<CoreAnswer>({ ask: 'close' } satisfies CoreQuestion)
  if (started.tasks !== tasks) throw new Error(`${started.tasks} of ${tasks} open tasks were there after the start`)
  const mib = (bytes: number): number => bytes / 2 ** 20
  return [
    { what: `CPU of a start with ${tasks} open tasks`, unit: 'ms', measured: started.cpuMs, most: BARS.startCpuMs },
    { what: 'RSS after that start', unit: 'MiB', measured: mib(settled.rssBytes), most: mib(rssWhenQueued) },
  ]
}
