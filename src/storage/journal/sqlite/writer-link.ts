import { Worker } from 'node:worker_threads'
import { type Fault, FaultError } from '../../../base/fault.ts'
import type { Durability, Fact } from '../fact.ts'
import type { OpenTask, Recovered } from '../journal.ts'
import { RecordQueue } from './record-queue.ts'
import { tasksIn } from './recovery.ts'
import type { FromWriter, ThreadSettings, ToWriter } from './thread-messages.ts'

const SOURCE = new URL('./writer-thread.ts', import.meta.url)
/** The same file as it is published. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

type Answer = Exclude<FromWriter, { kind: 'committed' | 'synced' | 'open' }>

interface Waiter {
  resolve(answer: Answer): void
  reject(error: FaultError): void
}

/**
 * The near end of the thread that writes. If that thread ends, whether what it was given is written is not known, and all that comes
 * after is refused: only who opens the journal again can tell where things stand.
 */
export class WriterLink {
  readonly #worker: Worker
  readonly #queue: RecordQueue
  /**
   * The pending call for each kind of answer. One call of a kind is open at a time; only `forget` calls also have an
   * id.
   */
  readonly #waiters = new Map<string, Waiter>()
  #open: OpenTask[] = []
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
      this.#hear(message)
      // A thread with nothing to do must not keep the process from ending.
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

  async recover(): Promise<Recovered> {
    this.#open = []
    const answer = await this.#ask('recover', { kind: 'recover' })
    const tasks = this.#open
    this.#open = []
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

  #hear(message: FromWriter): void {
    switch (message.kind) {
      case 'committed':
        return this.#queue.committed(message)
      case 'synced':
        return this.#queue.synced(message.upTo, message.fault)
      case 'open':
        for (const task of tasksIn(message.page)) this.#open.push(task)
        return
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
