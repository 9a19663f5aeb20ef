/** Nothing lost, nothing applied twice, nothing stuck: by what clients were told, what the cache holds, and the journal. */
import { join } from 'node:path'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'
import type { Fleet } from './fleet.ts'
import { type PatientClient, printedBy } from './patient-client.ts'
import type { Told } from './run-faults.ts'
import type { ShortTask } from './short-tasks.ts'

export interface Verdict {
  /** One sentence for each thing that is wrong. */
  readonly failures: readonly string[]
  /** What happened, in figures. */
  readonly summary: string
}

export interface Evidence {
  readonly fleet: Fleet
  readonly client: PatientClient
  readonly tasks: readonly ShortTask[]
  readonly told: ReadonlyMap<ShortTask, Told>
  readonly stuck: readonly ShortTask[]
}

/** Looks at a fleet that is up and idle; its server is stopped in the end, for its journal to be read. */
export async function verdictOf(evidence: Evidence): Promise<Verdict> {
  const failures = evidence.stuck.map(({ number }) => `task ${number} is stuck`)
  for (const [task, told] of evidence.told) {
    failures.push(...(await wrongWith(task, told, evidence.client)))
    const cached = await evidence.client.cached(task.action)
    if (cached !== told.printed) failures.push(`task ${task.number}: told ${told.printed}, cached ${cached}`)
  }
  const code = await evidence.fleet.server.stop()
  if (code !== 0) failures.push(`the server did not end well: ${code}`)
  const history = await historyOf(evidence)
  const summary = [figuresOf(evidence), history.summary].join('; ')
  return { failures: [...failures, ...history.failures], summary }
}

async function wrongWith(task: ShortTask, told: Told, client: PatientClient): Promise<string[]> {
  const wrong: string[] = []
  const say = (words: string): void => void wrong.push(`task ${task.number}: ${words}`)
  const tries = task.tries()
  if (told.exitCode !== 0) say(`ended with ${told.exitCode}`)
  if (!tries.includes(told.printed)) say(`a result that no try made: ${JSON.stringify(told.printed)}`)
  // Whoever asks again is told the same; of operations that the server never acknowledged nobody need know.
  for (const operation of told.operations) {
    const now = await client.look(operation)
    if (now === undefined) say(`nobody knows operation ${operation} any more`)
    else if (now.response?.status.code === 0 && printedBy(now) !== told.printed)
      say(`its client was told of ${told.printed}, and later of ${printedBy(now)}`)
    else if (now.response === undefined) say(`operation ${operation} is not over`)
  }
  if (tries.length > told.triesByThen) say(`run again after its end: ${tries.length - told.triesByThen} times`)
  return wrong
}

function figuresOf({ told, tasks }: Evidence): string {
  const all = [...told.values()]
  const sum = (of: (one: Told) => number): number => all.reduce((total, one) => total + of(one), 0)
  const tries = [...told.keys()].reduce((total, task) => total + task.tries().length, 0)
  return [
    `${told.size} of ${tasks.length} tasks told`,
    `${tries} tries`,
    `${sum(({ waits }) => waits)} operations followed up by name`,
    `${sum(({ operations }) => operations.length - 1)} asked for again`,
    `${sum(({ failures }) => failures.length)} given up by the grid and asked for again`,
  ].join(', ')
}

/** How often each action was brought to an end, by the facts on record. */
async function historyOf({ fleet, tasks }: Evidence): Promise<Verdict> {
  const journal = await sqliteJournal({ folder: join(fleet.data, 'journal'), owner: 'faults', pid: process.pid })
  const applied = new Map<string, number>()
  const open: string[] = []
  let [ended, superseded, cursor] = [0, 0, undefined as string | undefined]
  try {
    do {
      const page = await journal.list({ limit: 1000 }, cursor)
      for (const { operation, actionKey = '', end, lease, attempt } of page.tasks) {
        if (end === undefined) open.push(operation)
        // One that never had a lease was answered from the cache.
        if (end?.state === 'completed' && lease !== undefined) applied.set(actionKey, (applied.get(actionKey) ?? 0) + 1)
        if (end !== undefined) ended++
        if (attempt > 1) superseded += (await journal.find(operation))?.superseded.length ?? 0
      }
      cursor = page.next
    } while (cursor !== undefined)
  } finally {
    await journal.close()
  }
  const twice = [...applied].filter(([, times]) => times > 1)
  return {
    failures: [
      ...twice.map(([action, times]) => `action ${action} has ${times} results on record`),
      ...open.map((operation) => `operation ${operation} is still open on record`),
      ...(applied.size < tasks.length
        ? [`only ${applied.size} of ${tasks.length} actions have a result on record`]
        : []),
    ],
    summary: `${ended} tasks on record, ${superseded} results came too late and were set aside`,
  }
}
