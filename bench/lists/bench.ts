/**
 * Measures the CPU time of one list over a long history, on the main thread and on all threads: with each filter, for
 * snippets and for an operator. Every list runs over the SQLite journal, through the engine and, for snippets, the
 * service. No response is encoded.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { SnippetQuery } from '../../src/services/snippets/snippet-service.ts'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'
import { median } from '../middle.ts'
import { fill, gridOver, SCOPE, type SnippetGrid } from './fill.ts'
import { multiplyTasks } from './multiply.ts'

/** The bar of every row, in ms of CPU on all threads. */
const MOST_MS = 2
/** Above this number, tasks are copies of rows. */
const MOST_FILLED = 50_000

interface Row {
  readonly what: string
  list(grid: SnippetGrid): Promise<number>
}

const snippets = (what: string, query: Partial<SnippetQuery>): Row => ({
  what: `snippets, ${what}`,
  async list({ service }) {
    const all = { states: undefined, language: undefined, metadata: {}, limit: 50, ...query }
    return (await service.list(SCOPE, all)).snippets.length
  },
})

const ROWS: readonly Row[] = [
  snippets('no filter', {}),
  snippets('language that 1 of 1,000 has', { language: 'ruby' }),
  snippets('language that nearly all have', { language: 'python' }),
  snippets('metadata that 1 of 5,000 has', { metadata: { user: 'ann' } }),
  snippets('metadata that none has', { metadata: { user: 'none' } }),
  snippets('completed', { states: ['completed'] }),
  snippets('failed, none', { states: ['failed'] }),
  snippets('cancelled, none', { states: ['cancelled'] }),
  snippets('executing, none', { states: ['executing'] }),
  {
    what: 'operator, no filter',
    list: async ({ engine }) => (await engine.listOperations(LOCAL_CALLER, { limit: 50 })).operations.length,
  },
  {
    what: 'operator, failed, none',
    list: async ({ engine }) =>
      (await engine.listOperations(LOCAL_CALLER, { limit: 50, states: ['failed'] })).operations.length,
  },
]

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      tasks: { type: 'string' },
      rounds: { type: 'string' },
      folder: { type: 'string', default: tmpdir() },
    },
  })
  const tasks = Number(values.tasks ?? (values.smoke ? 2000 : 50_000))
  const rounds = Number(values.rounds ?? (values.smoke ? 3 : 30))
  const folder = mkdtempSync(join(values.folder, 'windlass-bench-lists-'))
  try {
    await usingGrid(folder, (grid) => fill(grid, Math.min(tasks, MOST_FILLED)))
    if (tasks > MOST_FILLED) multiplyTasks(folder, tasks)
    const worst = await usingGrid(folder, (grid) => measureAll(grid, rounds, tasks))
    if (!values.smoke)
      console.log(`\nthe most: ${worst.toFixed(2)} ms, bar ${MOST_MS} ms: ${worst <= MOST_MS ? 'met' : 'missed'}`)
    return values.smoke || worst <= MOST_MS ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The journal is opened again for the measurement, so that no list finds a task in memory. */
async function usingGrid<T>(folder: string, use: (grid: SnippetGrid) => Promise<T>): Promise<T> {
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  try {
    const grid = await gridOver(journal)
    const result = await use(grid)
    grid.service.close()
    await grid.engine.close()
    return result
  } finally {
    await journal.close()
  }
}

/** Returns the most CPU of a row, on all threads. */
async function measureAll(grid: SnippetGrid, rounds: number, tasks: number): Promise<number> {
  console.log(`${tasks} tasks, ${rounds} lists a row, load ${loadavg()[0]?.toFixed(1)}\n`)
  console.log('| list | found | main ms | all threads ms | wall ms |\n|---|---:|---:|---:|---:|')
  let most = 0
  for (const row of ROWS) most = Math.max(most, await measure(row, grid, rounds))
  return most
}

async function measure({ what, list }: Row, grid: SnippetGrid, rounds: number): Promise<number> {
  for (let i = 0; i < 5; i++) await list(grid) // the first lists compile the code
  const [main, all, wall]: [number[], number[], number[]] = [[], [], []]
  let found = 0
  for (let i = 0; i < rounds; i++) {
    const start = { at: performance.now(), main: process.threadCpuUsage(), all: process.cpuUsage() }
    found = await list(grid)
    wall.push(performance.now() - start.at)
    main.push(msOf(process.threadCpuUsage(start.main)))
    all.push(msOf(process.cpuUsage(start.all)))
  }
  console.log(`| ${what} | ${found} | ${[main, all, wall].map((each) => median(each).toFixed(2)).join(' | ')} |`)
  return median(all)
}

const msOf = ({ user, system }: { user: number; system: number }): number => (user + system) / 1000
