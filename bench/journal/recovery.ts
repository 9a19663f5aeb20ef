import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/app/process/clock.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'

export interface RecoveryFigures {
  readonly tasks: number
  /** From opening the journal until the engine has queued all tasks. */
  readonly ms: number
  /** CPU time, on this thread and on all threads. */
  readonly mainMs: number
  readonly allMs: number
}

const AT_ONCE = 1000

/** Measures a start with this many open tasks: from a closed journal to a working engine. */
export async function recoverTasks(folder: string, tasks: number, bytes: number): Promise<RecoveryFigures> {
  const before = await open(folder)
  const spec = randomBytes(bytes)
  for (let from = 0; from < tasks; from += AT_ONCE) {
    const some = Math.min(AT_ONCE, tasks - from)
    await Promise.all(
      Array.from({ length: some }, (_, i) => before.engine.submit(LOCAL_CALLER, submission(from + i, spec))),
    )
  }
  await before.close()
  const start = { at: performance.now(), main: process.threadCpuUsage(), all: process.cpuUsage() }
  const { engine, close } = await open(folder)
  const ms = performance.now() - start.at
  const [main, all] = [process.threadCpuUsage(start.main), process.cpuUsage(start.all)]
  const { operations } = engine.figures()
  await close()
  if (operations !== tasks) throw new Error(`of ${tasks} open tasks ${operations} were there after the start`)
  return { tasks, ms, mainMs: (main.user + main.system) / 1000, allMs: (all.user + all.system) / 1000 }
}

async function open(folder: string) {
  let named = 0
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  const engine = await createEngine({
    journal,
    clock: systemClock,
    newId: () => `${(++named).toString(16).padStart(12, '0')}-7000-9a3d`,
    random: Math.random,
    scheduler: { maxQueued: 1_000_000 },
  })
  const close = async (): Promise<void> => {
    await engine.close()
    await journal.close()
  }
  return { engine, close }
}

const submission = (number: number, spec: Uint8Array) => ({
  instance: 'main',
  invocation: `build-${number % 20}`,
  origin: 'action',
  spec,
  properties: [{ name: 'OSFamily', value: 'linux' }],
  actionKey: `${'ab'.repeat(32)}/${number}`,
  cacheable: true,
  needsWaiter: true,
})
