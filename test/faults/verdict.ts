/** Checks that no task is lost, applied twice or stuck: by the clients' results, the action cache and the journal. */
import { join } from 'node:path'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'
import type { Fleet } from './fleet.ts'
import { type PatientClient, printedBy } from './patient-client.ts'
import type { Told } from './run-faults.ts'
import type { ShortTask } from './short-tasks.ts'

export interface Verdict {
  /** One sentence for each violation. */
  readonly failures: readonly string[]
  /** The run in figures. */
  readonly summary: string
}

export interface Evidence {
  readonly fleet: Fleet
  readonly client: PatientClient
  readonly tasks: readonly ShortTask[]
  readonly told: ReadonlyMap<ShortTask, Told>
  readonly stuck: readonly ShortTask[]
}

/** Checks a fleet that is up and idle, then stops its server to read the journal. */
export async function verdictOf(evidence: Evidence): Promise<Verdict> {
  const failures = evidence.stuck.map(({ number }) => `task ${number} is stuck`)
  for (const [task, reported] of evidence.told) {
    failures.push(...(await wrongWith(task, reported, evidence.client)))
    const cached = await evidence.client.cached(task.action)
    if (cached !== reported.printed) failures.push(`task ${task.number}: told ${reported.printed}, cached ${cached}`)
  }
  const code = await evidence.fleet.server.stop()
  if (code !== 0) failures.push(`the server did not end well: ${code}`)
  const history = await historyOf(evidence)
  const summary = [figuresOf(evidence), history.summary].join('; ')
  return { failures: [...failures, ...history.failures], summary }
}

async function wrongWith(task: ShortTask, reported: Told, client: PatientClient): Promise<string[]> {
  const wrong: string[] = []
  const send = (words: string): void => void wrong.push(`task ${task.number}: ${words}`)
  const tries = task.tries()
  if (reported.exitCode !== 0) send(`ended with ${reported.exitCode}`)
  if (!tries.includes(reported.printed)) send(`a result that no try made: ${JSON.stringify(reported.printed)}`)
  // A later query returns the same result; operations that the server never acknowledged may be unknown.
  for (const operation of reported.operations) {
    const now = await client.look(operation)
    if (now === undefined) send(`nobody knows operation ${operation} any more`)
    else if (now.response?.status.code === 0 && printedBy(now) !== reported.printed)
      send(`its client was told of ${reported.printed}, and later of ${printedBy(now)}`)
    else if (now.response === undefined) send(`operation ${operation} is not over`)
  }
  if (tries.length > reported.triesByThen) send(`run again after its end: ${tries.length - reported.triesByThen} times`)
  return wrong
}

function figuresOf({ told: reported, tasks }: Evidence): string {
  const all = [...reported.values()]
  const sum = (of: (one: Told) => number): number => all.reduce((total, one) => total + of(one), 0)
  const tries = [...reported.keys()].reduce((total, task) => total + task.tries().length, 0)
  return [
    `${reported.size} of ${tasks.length} tasks told`,
    `${tries} tries`,
    `${sum(({ waits }) => waits)} operations followed up by name`,
    `${sum(({ operations }) => operations.length - 1)} asked for again`,
    `${sum(({ failures }) => failures.length)} given up by the grid and asked for again`,
  ].join(', ')
}

/** The number of times that each action was completed, by the facts in the journal. */
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
        // A task that never had a lease was answered from the cache.
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
