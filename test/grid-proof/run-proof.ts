/**
 * Many concurrent snippets on workers of three protocols, one of which is killed; and the invariants that must hold
 * after it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SnippetTaskView } from '../../src/client/snippets/snippet-answers.ts'
import type { SnippetsClient } from '../../src/client/snippets/snippets.ts'
import { isOver } from '../../src/model/snippet.ts'
import { randomFrom } from '../../src/testing/random-source.ts'
import { type NumberedSnippet, numberedSnippets, SLOW_MS, slowSnippet } from './numbered-snippets.ts'
import { type LostAttempt, SLOTS, type ThreeWays, threeWays, WAYS, type Way, workerName } from './three-ways.ts'

export interface ProofRun {
  readonly snippets: number
  readonly concurrent: number
  readonly seed: number
  readonly folder: string
}

export interface Proof {
  readonly failures: readonly string[]
  readonly summary: string
}

/** The leases that a worker may hold besides those it runs: tasks whose inputs are prefetched. */
const AHEAD = 2
/** The most failures of one kind that the report of a failed run lists. */
const MOST_NAMED = 5
/** The share of attempts that may be lost on workers that were not killed. */
const MOST_LOST = 0.01
/** A worker that gets no slow snippet in this time, while fillers occupy all slots, does not take tasks. */
const NO_SLOW_ONE_MS = 600_000
/** Messages that the killed worker sent before may be read up to this much later. */
const LATE_MS = 2000

export async function runProof({ snippets: count, concurrent, seed, folder }: ProofRun): Promise<Proof> {
  const random = randomFrom(seed)
  const victim = WAYS[random.below(WAYS.length)] as Way
  const run = `proof-${seed}`
  const snippets = numberedSnippets(count, run, random)
  await using fleet = await threeWays(folder)
  const startedAt = performance.now()
  const load = startLoad(fleet.client, snippets, concurrent)
  await until(() => load.told.size >= count * 0.3 || load.failures.length > 0)
  const fillers = startFillers(load, count, run)
  const kill = await killInTheMiddle(fleet, victim)
  fillers.stop()
  await Promise.all([load.over, fillers.over])
  const seconds = (performance.now() - startedAt) / 1000
  const failures = [
    ...load.failures,
    ...wrongIn(load.told),
    ...wrongAfter(kill, load.told, fleet.lost()),
    ...fleet.errors().slice(0, MOST_NAMED),
    ...(await recordWrong(fleet, run, load.told)),
  ]
  if (failures.length > 0) failures.push(fleet.logs())
  const [dead, living] = partition(kill, fleet.lost())
  const again = `${dead.length} tried again, and ${living.length} that no kill explains`
  const summary = `${summaryOf(load.told)}; ${victim} killed, ${again}; ${seconds.toFixed(1)} s`
  return { failures, summary }
}

interface Load {
  readonly told: ReadonlyMap<NumberedSnippet, SnippetTaskView>
  readonly failures: readonly string[]
  readonly over: Promise<unknown>
  /** Runs one more snippet to its end. */
  bring(snippet: NumberedSnippet): Promise<void>
}

/** Each of `concurrent` callers runs one snippet after the other to its end. */
function startLoad(client: SnippetsClient, snippets: readonly NumberedSnippet[], concurrent: number): Load {
  const reported = new Map<NumberedSnippet, SnippetTaskView>()
  const failures: string[] = []
  const queue = snippets.values()
  const bring = async (snippet: NumberedSnippet): Promise<void> => {
    try {
      reported.set(snippet, await (snippet.number % 10 === 0 ? followed(client, snippet) : client.run(snippet.task)))
    } catch (error) {
      failures.push(`${snippet.kind} ${snippet.number}: ${error}`)
    }
  }
  const caller = async (): Promise<void> => {
    for (const snippet of queue) await bring(snippet)
  }
  return { told: reported, failures, over: Promise.all(Array.from({ length: concurrent }, caller)), bring }
}

/**
 * Keeps as many slow snippets unfinished as the grid has slots, until `stop`: every worker gets one, even when the load
 * ends before the victim got one by chance.
 */
function startFillers({ bring }: Load, firstNumber: number, run: string) {
  let number = firstNumber
  let isStopped = false
  const filler = async (): Promise<void> => {
    while (!isStopped) await bring(slowSnippet(number++, run))
  }
  return {
    over: Promise.all(Array.from({ length: WAYS.length * SLOTS }, filler)),
    stop() {
      isStopped = true
    },
  }
}

/** Follows a snippet by its event stream, which must have exactly one end. */
async function followed(client: SnippetsClient, { task }: NumberedSnippet): Promise<SnippetTaskView> {
  const { taskId } = await client.submit(task)
  const ends: SnippetTaskView[] = []
  for await (const event of client.events(taskId)) if (event.event === 'end') ends.push(event.task)
  const [end] = ends
  if (end === undefined || ends.length > 1) throw new Error(`its stream of events has ${ends.length} ends`)
  return end
}

interface Kill {
  readonly victim: Way
  readonly at: number
  /** The task that was certainly running there. */
  readonly hit: string | undefined
}

/** Kills the victim just after a slow snippet has begun there. */
async function killInTheMiddle(fleet: ThreeWays, victim: Way): Promise<Kill> {
  const latest = performance.now() + NO_SLOW_ONE_MS
  let hit: string | undefined
  while (hit === undefined && performance.now() < latest) {
    const { tasks } = await fleet.client.list({ status: ['executing'], metadata: { kind: 'slow' }, limit: 100 })
    const fresh = tasks.find(
      ({ assignedClient, timestamps: { startedAt } }) =>
        assignedClient === workerName(victim) && Date.now() - Date.parse(startedAt ?? '') < SLOW_MS / 2,
    )
    hit = fresh?.taskId
    if (hit === undefined) await sleep(20)
  }
  await fleet.kill(victim)
  return { victim, at: Date.now(), hit }
}

function wrongIn(reported: Load['told']): string[] {
  const wrong = [...reported].flatMap(([snippet, task]) => snippet.wrong(task) ?? [])
  const all = [...reported.values()]
  if (new Set(all.map(({ taskId }) => taskId)).size !== all.length) wrong.push('two snippets were told as one')
  for (const way of WAYS) {
    if (!all.some(({ assignedClient }) => assignedClient === workerName(way))) wrong.push(`${way} ended nothing`)
  }
  return wrong
}

/** Splits the lost attempts into those that the kill explains and the others. */
const partition = ({ victim, at }: Kill, lost: readonly LostAttempt[]): [LostAttempt[], LostAttempt[]] => {
  const isHit = (one: LostAttempt): boolean => one.worker === workerName(victim) && one.at >= at - LATE_MS
  return [lost.filter(isHit), lost.filter((one) => !isHit(one))]
}

/** Checks that tasks of the killed worker are retried, and that it ends no more tasks. */
function wrongAfter(kill: Kill, reported: Load['told'], lost: readonly LostAttempt[]): string[] {
  const { victim, at, hit } = kill
  const [dead, living] = partition(kill, lost)
  const wrong: string[] = []
  const all = [...reported.values()]
  const name = workerName(victim)
  const ended = all.find(({ taskId }) => taskId === hit)
  if (hit === undefined) wrong.push(`${victim} had no slow snippet to be killed with`)
  else if (ended === undefined) wrong.push(`${hit} never ended`)
  else if (ended.assignedClient === name || ended.attempt < 2) wrong.push(`${hit} ended on the worker that is dead`)
  if (dead.length === 0 || dead.length > SLOTS + AHEAD) wrong.push(`${dead.length} attempts were lost to one kill`)
  // On an overloaded machine a heartbeat may arrive so late that it does not list leases granted since.
  if (living.length > all.length * MOST_LOST)
    wrong.push(...living.map(({ worker, what }) => `${worker} lives: ${what}`))
  // Leases that were prefetched and revoked, or refused for lack of a slot, are no attempts.
  const attempts = all.reduce((sum, { attempt }) => sum + attempt - 1, 0)
  if (attempts > dead.length + living.length + all.length * MOST_LOST)
    wrong.push(`${attempts} attempts came to nothing, and the server knows the cause of ${lost.length}`)
  for (const { taskId, status, assignedClient, timestamps } of all) {
    if (status === 'timeout') continue // the server itself measures the timeout
    const isLate = Date.parse(timestamps.completedAt ?? '') > at + LATE_MS
    if (assignedClient === name && isLate) wrong.push(`${taskId} was ended by the worker that is dead`)
  }
  return wrong
}

/** Checks that the server's record of each task equals the result that its caller received, once for each task. */
async function recordWrong({ client }: ThreeWays, run: string, reported: Load['told']): Promise<string[]> {
  const wrong: string[] = []
  const open = new Map([...reported.values()].map((task) => [task.taskId, task]))
  let cursor: string | undefined
  do {
    const page = await client.list({ metadata: { run }, limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const task of page.tasks) {
      const before = open.get(task.taskId)
      if (!open.delete(task.taskId)) wrong.push(`${task.taskId} is on record, and nobody was told of it, or twice`)
      const isSame = isOver({ state: task.status }) && task.status === before?.status && task.attempt === before.attempt
      if (!isSame) wrong.push(`${task.taskId} is ${task.status} on record, and ${before?.status} was told`)
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  for (const id of open.keys()) wrong.push(`${id} is not on record`)
  for (const task of [...reported.values()].filter(({ attempt }) => attempt > 1)) {
    const later = await client.get(task.taskId)
    if (JSON.stringify(later) !== JSON.stringify(task)) wrong.push(`${task.taskId} is not what it was when it ended`)
  }
  return wrong
}

function summaryOf(reported: Load['told']): string {
  const all = [...reported.values()]
  const count = (is: (task: SnippetTaskView) => boolean): number => all.filter(is).length
  const ways = WAYS.map((way) => `${way} ${count(({ assignedClient }) => assignedClient === workerName(way))}`)
  const states = [...new Set(all.map(({ status }) => status))].map(
    (state) => `${count((t) => t.status === state)} ${state}`,
  )
  return `${all.length} snippets: ${states.join(', ')}; ${ways.join(', ')}`
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20)
}
