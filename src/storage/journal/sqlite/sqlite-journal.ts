import { mkdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type Fault, FaultError } from '../../../base/fault.ts'
import { holdFolder } from '../../packs/folder-lock.ts'
import type { Durability, Fact } from '../fact.ts'
import type { Journal, OpenTask, Recovered } from '../journal.ts'
import { HistoryThread } from './history-thread.ts'
import { RecordQueue } from './record-queue.ts'
import { tasksIn } from './recovery.ts'
import type { FromWriter, ThreadSettings, ToWriter } from './thread-messages.ts'

export interface SqliteJournalOptions {
  /** The data folder. One process at a time; a second one is refused, with the process ID of the first. */
  readonly folder: string
  /** The name of this server, stored in every row. */
  readonly owner: string
  readonly pid: number
}

/** A journal in one SQLite database: one thread writes, another one runs queries. */
export async function sqliteJournal({ folder, owner, pid }: SqliteJournalOptions): Promise<Journal> {
  mkdirSync(folder, { recursive: true })
  const unlock = holdFolder(folder, pid)
  const settings: ThreadSettings = { folder, owner }
  const reader = new HistoryThread(settings)
  const writer = new WriterLink(settings)
  try {
    await writer.opened
  } catch (error) {
    await writer.end()
    unlock()
    throw error
  }
  let closing: Promise<void> | undefined
  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw closed()
  }
  return {
    async recover(each) {
      refuseIfClosed()
      return writer.recover(each)
    },
    // This is not async: that would create another promise, 100,000 times per second.
    record: (facts, durability) =>
      closing === undefined ? writer.record(facts, durability) : Promise.reject(closed()),
    async find(operation) {
      refuseIfClosed()
      return reader.find(operation)
    },
    async list(query, cursor) {
      refuseIfClosed()
      return reader.list(query, cursor)
    },
    async forget(before) {
      refuseIfClosed()
      return writer.forget(before)
    },
    close() {
      closing ??= reader
        .close()
        .then(() => writer.close())
        .finally(unlock)
      return closing
    },
  }
}

const closed = (): FaultError => new FaultError({ kind: 'unavailable', what: 'the journal is closed' })

const SOURCE = new URL('./writer-thread.ts', import.meta.url)
/** The path of the same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

type Answer = Exclude<FromWriter, { kind: 'committed' | 'synced' | 'open' }>

interface Waiter {
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * The main thread's side of the writer thread. When that thread ends, it is unknown whether it has written the open calls,
 * and all later calls are refused: opening the journal again shows what was recorded.
 */
class WriterLink {
  readonly #worker: Worker
  readonly #queue: RecordQueue
  /**
   * The pending call for each kind of answer. One call of a kind is open at a time; only `forget` calls also have an
   * id.
   */
  readonly #waiters = new Map<string, Waiter>()
  #restore: (part: Recovered) => void = () => {}
  #isRecovered = false
  #failure: FaultError | undefined
  #ids = 0
  readonly opened: Promise<Answer>

  constructor(settings: ThreadSettings) {
    this.#worker = new Worker(FILE, { workerData: settings, name: 'journal writer' })
    this.#queue = new RecordQueue((pack) => {
      this.#worker.ref()
      this.#worker.postMessage(pack, [pack.memory])
    })
    this.#worker.on('message', (message: FromWriter) => {
      this.#receive(message)
      // An idle thread must not keep the process alive.
      if (this.#queue.waiting === 0 && this.#waiters.size === 0) this.#worker.unref()
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(undefined))
    this.opened = this.#await('open')
  }

  record(facts: readonly Fact[], durability: Durability): Promise<readonly string[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isRecovered) return this.#queue.add(facts, durability)
    return Promise.reject(new FaultError({ kind: 'bug', what: 'a fact was recorded before the journal was recovered' }))
  }

  async recover(each?: (part: Recovered) => void): Promise<Recovered> {
    const tasks: OpenTask[] = []
    this.#restore = each ?? ((part) => void tasks.push(...part.tasks))
    const answer = await this.#ask('recover', { kind: 'recover' })
    this.#isRecovered = true
    if (answer.kind !== 'recovered')
      throw new FaultError({ kind: 'bug', what: 'the journal was asked for one thing and gave another' })
    return { epoch: answer.epoch, tasks, namesOffered: answer.namesOffered }
  }

  async forget(before: number): Promise<number> {
    const id = ++this.#ids
    const answer = await this.#ask(`forget ${id}`, { kind: 'forget', id, before })
    return answer.kind === 'forgotten' ? answer.tasks : 0
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return
    this.#queue.flush()
    await this.#ask('close', { kind: 'close' })
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #ask(name: string, message: ToWriter): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#worker.ref()
    this.#worker.postMessage(message)
    return this.#await(name)
  }

  #await(name: string): Promise<Answer> {
    return new Promise((resolve, reject) => this.#waiters.set(name, { resolve, reject }))
  }

  #receive(message: FromWriter): void {
    switch (message.kind) {
      case 'committed':
        return this.#queue.committed(message)
      case 'synced':
        return this.#queue.synced(message.upTo, message.fault)
      case 'open':
        this.#worker.postMessage({ kind: 'more' } satisfies ToWriter)
        return this.#restoreSome(message)
      case 'opened':
        return this.#answer('open', message, undefined)
      case 'refused':
        return this.#answer('open', message, message.fault)
      case 'recovered':
        return this.#answer('recover', message, undefined)
      case 'unrecovered':
        return this.#answer('recover', message, message.fault)
      case 'forgotten':
        return this.#answer(`forget ${message.id}`, message, message.fault)
      case 'closed':
        this.#queue.settle()
        return this.#answer('close', message, message.fault)
    }
  }

  #restoreSome({ page, epoch, namesOffered }: Extract<FromWriter, { kind: 'open' }>): void {
    try {
      this.#restore({ epoch, namesOffered, tasks: tasksIn(page) })
    } catch (error) {
      this.#waiters.get('recover')?.reject(error)
    }
  }

  #answer(name: string, answer: Answer, fault: Fault | undefined): void {
    const waiter = this.#waiters.get(name)
    this.#waiters.delete(name)
    if (fault === undefined) waiter?.resolve(answer)
    else waiter?.reject(new FaultError(fault))
  }

  #fail(cause: unknown): void {
    this.#failure ??= new FaultError(
      { kind: 'unavailable', what: 'the thread that writes the journal has ended' },
      cause,
    )
    this.#queue.fail(this.#failure)
    for (const { reject } of this.#waiters.values()) reject(this.#failure)
    this.#waiters.clear()
  }
}
