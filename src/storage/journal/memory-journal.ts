import { FaultError, invalid } from '../../base/fault.ts'
import type { Accepted, Joined, TaskFact } from './fact.ts'
import { bytesOf, keyIn, MOST_PAGE_BYTES, pageSize } from './history-page.ts'
import type {
  HistoryPage,
  HistoryQuery,
  Journal,
  OpenTask,
  OperationRecord,
  Superseded,
  TaskRecord,
  TaskSummary,
} from './journal.ts'
import { applyFact, beginLife, CHANGED, type TaskLife } from './task-life.ts'

interface Entry {
  readonly key: number
  readonly accepted: Accepted
  readonly life: TaskLife
  readonly operations: readonly OperationRecord[]
  /** The labels of all its operations and of its end. */
  readonly labels: readonly string[]
}

/** The data of a memory journal. Passing it to another journal simulates a restart. */
export interface MemoryRecords {
  epoch: number
  nextKey: number
  /** By key, which is the order of arrival. */
  readonly entries: Map<number, Entry>
  /** The key of each task that is open. */
  readonly open: Map<string, number>
  /** The key of the task of each operation. */
  readonly names: Map<string, number>
  superseded: readonly LateEnd[]
  readonly namesOffered: Set<string>
}

interface LateEnd extends Superseded {
  readonly task: string
}

export const memoryRecords = (): MemoryRecords => ({
  epoch: 0,
  nextKey: 1,
  entries: new Map(),
  open: new Map(),
  names: new Map(),
  superseded: [],
  namesOffered: new Set(),
})

/** A journal in memory, which is lost when the process ends: for tests, and for servers without history. */
export function memoryJournal(records: MemoryRecords = memoryRecords()): Journal {
  let state: 'new' | 'recovered' | 'closed' = 'new'
  const refuseIfClosed = (): void => {
    if (state === 'closed') throw new FaultError({ kind: 'unavailable', what: 'the journal is closed' })
  }
  return {
    async recover() {
      refuseIfClosed()
      state = 'recovered'
      const open = [...records.entries.values()].filter(({ life }) => life.end === undefined)
      return { epoch: ++records.epoch, tasks: open.map(openTaskOf), namesOffered: [...records.namesOffered] }
    },
    async record(facts) {
      refuseIfClosed()
      if (state === 'new') {
        throw new FaultError({ kind: 'bug', what: 'a fact was recorded before the journal was recovered' })
      }
      const draft = new Draft(records)
      const late: string[] = []
      for (const fact of facts) {
        if (fact.kind === 'offered') draft.offer(fact.names)
        else if (draft.add(fact) === 'late') late.push(fact.task)
      }
      draft.apply()
      return late
    },
    async find(operation) {
      refuseIfClosed()
      const entry = records.entries.get(records.names.get(operation) ?? 0)
      return entry && recordOf(entry, records)
    },
    async list(query, cursor) {
      refuseIfClosed()
      const { page, next } = pageIn(records, query, cursor)
      return query.whole ? wholePage(page, next, records) : { tasks: page.map(summaryOf), next }
    },
    async forget(before) {
      refuseIfClosed()
      const old = [...records.entries.values()].filter(({ life }) => life.end !== undefined && life.end.at < before)
      for (const { key, operations } of old) {
        records.entries.delete(key)
        for (const { name } of operations) records.names.delete(name)
      }
      records.superseded = records.superseded.filter(({ at }) => at >= before)
      return old.length
    },
    async close() {
      state = 'closed'
    },
  }
}

function pageIn(records: MemoryRecords, query: HistoryQuery, cursor: string | undefined) {
  const before = cursor === undefined ? records.nextKey : keyIn(cursor)
  const found = [...records.entries.values()]
    .reverse()
    .filter((entry) => entry.key < before && isAskedFor(entry, query) && isNamed(entry, query))
  const page = found.slice(0, pageSize(query))
  return { page, next: found.length > page.length ? String(page.at(-1)?.key) : undefined }
}

function wholePage(page: readonly Entry[], next: string | undefined, records: MemoryRecords): HistoryPage {
  const tasks: TaskRecord[] = []
  const begins = page.map(({ key }) => String(key + 1))
  let bytes = 0
  for (const entry of page) {
    const record = recordOf(entry, records)
    bytes += bytesOf(record)
    if (bytes > MOST_PAGE_BYTES && tasks.length > 0)
      return { tasks, records: tasks, begins, next: String(entry.key + 1) }
    tasks.push(record)
  }
  return { tasks, records: tasks, begins, next }
}

/** The changes of one call. They take effect in `apply`, so a call that fails changes nothing. */
class Draft {
  readonly #records: MemoryRecords
  /** The tasks of this call, by ID. */
  readonly #entries = new Map<string, Entry>()
  readonly #names = new Map<string, number>()
  readonly #late: LateEnd[] = []
  readonly #offered: string[] = []
  #nextKey: number

  constructor(records: MemoryRecords) {
    this.#records = records
    this.#nextKey = records.nextKey
  }

  apply(): void {
    const { entries, open, names } = this.#records
    for (const [task, entry] of this.#entries) {
      entries.set(entry.key, entry)
      if (entry.life.end === undefined) open.set(task, entry.key)
      else open.delete(task)
    }
    for (const [name, key] of this.#names) names.set(name, key)
    if (this.#late.length > 0) this.#records.superseded = [...this.#records.superseded, ...this.#late]
    for (const name of this.#offered) this.#records.namesOffered.add(name)
    this.#records.nextKey = this.#nextKey
  }

  offer(names: readonly string[]): void {
    this.#offered.push(...names)
  }

  add(fact: TaskFact): 'late' | undefined {
    if (fact.kind === 'accepted') return this.#accept(fact)
    const entry = this.#entryOf(fact.task)
    const isOpen = entry !== undefined && entry.life.end === undefined
    if ((isOpen && this.#change(entry, fact)) || fact.kind !== 'finished') return undefined
    const { task, state, fencing, reason, at } = fact
    this.#late.push({ task, state, fencing, reason, at })
    return 'late'
  }

  #entryOf(task: string): Entry | undefined {
    return this.#entries.get(task) ?? this.#records.entries.get(this.#records.open.get(task) ?? 0)
  }

  #accept(fact: Accepted): undefined {
    if (this.#entryOf(fact.task)) throw invalid(`a task with the id ${fact.task} is open already`, 'exists')
    const key = this.#nextKey++
    const accepted = { ...fact, spec: new Uint8Array(fact.spec) }
    const operations = [this.#operation(key, fact)]
    this.#entries.set(fact.task, { key, accepted, life: beginLife(fact), operations, labels: fact.labels ?? [] })
  }

  /** Returns false when the fact came too late. */
  #change(entry: Entry, fact: Exclude<TaskFact, Accepted>): boolean {
    const life = { ...entry.life }
    if (applyFact(life, fact) === CHANGED.late) return false
    life.result = life.result && new Uint8Array(life.result)
    const labels = 'labels' in fact && fact.labels ? [...entry.labels, ...fact.labels] : entry.labels
    this.#entries.set(fact.task, { ...entry, life, operations: this.#operationsAfter(entry, fact), labels })
    return true
  }

  #operationsAfter({ key, operations }: Entry, fact: TaskFact): readonly OperationRecord[] {
    if (fact.kind === 'joined') return [...operations, this.#operation(key, fact)]
    if (fact.kind !== 'left') return operations
    return operations.map((one) => (one.name === fact.operation ? { ...one, leftAt: one.leftAt ?? fact.at } : one))
  }

  #operation(key: number, { operation, note, at }: Accepted | Joined): OperationRecord {
    if (this.#names.has(operation) || this.#records.names.has(operation)) {
      throw invalid(`an operation is already named ${operation}`, 'exists')
    }
    this.#names.set(operation, key)
    return { name: operation, note: note && new Uint8Array(note), joinedAt: at, leftAt: undefined }
  }
}

const summaryOf = ({ accepted, life }: Entry): TaskSummary => ({
  task: accepted.task,
  instance: accepted.instance,
  invocation: accepted.invocation,
  priority: life.priority,
  origin: accepted.origin,
  actionKey: accepted.actionKey,
  durability: accepted.durability,
  acceptedAt: accepted.at,
  state: life.state,
  attempt: life.attempt,
  lease: life.lease,
  cancel: life.cancel,
  end: life.end,
  operation: accepted.operation,
})

const openTaskOf = (entry: Entry): OpenTask => ({
  ...summaryOf(entry),
  spec: entry.accepted.spec,
  operations: entry.operations,
  lostWorkers: entry.life.lostWorkers,
  faults: entry.life.faults,
  due: entry.life.state === 'retrying' ? entry.life.due : undefined,
  requeueReason: entry.life.requeueReason,
})

const recordOf = (entry: Entry, { superseded }: MemoryRecords): TaskRecord => ({
  ...openTaskOf(entry),
  result: entry.life.result,
  superseded: superseded.filter(({ task }) => task === entry.accepted.task).map(({ task: _, ...rest }) => rest),
})

function isAskedFor(entry: Entry, query: HistoryQuery): boolean {
  const task = summaryOf(entry)
  return (
    (query.operations?.includes(task.operation) ?? true) &&
    (query.instance ?? task.instance) === task.instance &&
    (query.invocation ?? task.invocation) === task.invocation &&
    (query.origin ?? task.origin) === task.origin &&
    ((query.states?.includes(task.state) ?? true) || (query.orLeft === true && hasLeft(entry))) &&
    (query.labels?.every((label) => entry.labels.includes(label)) ?? true) &&
    task.acceptedAt >= (query.acceptedFrom ?? Number.NEGATIVE_INFINITY) &&
    task.acceptedAt < (query.acceptedBefore ?? Number.POSITIVE_INFINITY)
  )
}

const hasLeft = ({ operations }: Entry): boolean => operations.some(({ leftAt }) => leftAt !== undefined)

const isNamed = ({ operations }: Entry, { name }: HistoryQuery): boolean =>
  name === undefined || operations.some((one) => one.name.includes(name))
