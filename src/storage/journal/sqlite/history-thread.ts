import { Worker } from 'node:worker_threads'
import { FaultError } from '../../../base/fault.ts'
import type { HistoryPage, HistoryQuery, TaskRecord } from '../journal.ts'
import type { FromReader, ThreadSettings, ToReader } from './thread-messages.ts'

const SOURCE = new URL('./reader-thread.ts', import.meta.url)
/** The path of the same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

interface Question {
  resolve(answer: FromReader): void
  reject(error: FaultError): void
}

/**
 * The main thread's side of the reader thread. The first query starts the thread; a query after a crash starts it
 * again.
 */
export class HistoryThread {
  readonly #settings: ThreadSettings
  readonly #questions = new Map<number, Question>()
  #thread: Worker | undefined
  #ids = 0

  constructor(settings: ThreadSettings) {
    this.#settings = settings
  }

  async find(operation: string): Promise<TaskRecord | undefined> {
    const answer = await this.#ask({ kind: 'find', id: ++this.#ids, operation })
    return answer.kind === 'found' ? answer.task : undefined
  }

  async list(query: HistoryQuery, cursor: string | undefined): Promise<HistoryPage> {
    const answer = await this.#ask({ kind: 'list', id: ++this.#ids, query, cursor })
    return answer.kind === 'listed' ? answer.page : { tasks: [], next: undefined }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  async #ask(question: ToReader): Promise<FromReader> {
    this.#thread ??= this.#start()
    this.#thread.ref()
    this.#thread.postMessage(question)
    const answer = await new Promise<FromReader>((resolve, reject) => {
      this.#questions.set(question.id, { resolve, reject })
    })
    if (answer.kind === 'failed') throw new FaultError(answer.fault)
    return answer
  }

  #start(): Worker {
    const thread = new Worker(FILE, { workerData: this.#settings, name: 'journal reader' })
    let cause: unknown
    thread.on('message', (answer: FromReader) => {
      this.#questions.get(answer.id)?.resolve(answer)
      this.#questions.delete(answer.id)
      if (this.#questions.size === 0) thread.unref() // an idle thread must not keep the process alive
    })
    thread.on('error', (error) => {
      cause = error
    })
    thread.on('exit', () => {
      this.#thread = undefined
      const failure = new FaultError(
        { kind: 'unavailable', what: 'the thread that reads the journal has ended' },
        cause,
      )
      for (const { reject } of this.#questions.values()) reject(failure)
      this.#questions.clear()
    })
    return thread
  }
}
