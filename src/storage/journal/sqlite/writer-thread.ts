/**
 * The thread with the writing connection. All packs that arrive during a commit are written in the next transaction, so
 * the cost per call falls as the load rises.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Fact } from '../fact.ts'
import { unpackCalls } from '../fact-unpacking.ts'
import { FactWriter } from './fact-writer.ts'
import { LogKeeper } from './log-keeper.ts'
import { LogSync } from './log-sync.ts'
import { logFile, openForWriting } from './open-database.ts'
import { knownIn, namesOffered, type OpenPage, openPages, takeEpoch } from './recovery.ts'
import { forgetting } from './retention.ts'
import { migrate } from './schema.ts'
import { faultOf } from './sqlite-fault.ts'
import type { FromWriter, Packed, ThreadSettings, ToWriter } from './thread-messages.ts'

/**
 * The most bytes per transaction: enough to share a commit, and few enough that the first callers do not wait for long.
 */
const MOST_BYTES = 4 * 1024 * 1024
const OPEN_TASKS_AT_ONCE = 1000
/** While the main thread restores one page, this thread reads the next. */
const PAGES_AHEAD = 2
/** The approximate bytes that a call adds to the log besides its own: parts of pages. */
const LOG_BYTES_A_CALL = 600
/**
 * The bytes that a transaction adds to the log: the last page of each table and index is written whole. With a thousand
 * small transactions per second, this is most of the log.
 */
const LOG_BYTES_A_COMMIT = 4 * 8192

interface Recovery {
  readonly pages: Generator<OpenPage, void>
  readonly epoch: number
  readonly namesOffered: readonly string[]
}

class WriterThread {
  readonly #port: MessagePort
  readonly #settings: ThreadSettings
  readonly #db
  readonly #keeper: LogKeeper
  #writer: FactWriter | undefined
  #recovery: Recovery | undefined
  #log: { readonly fd: number; readonly sync: LogSync } | undefined
  #isClosing = false

  constructor(port: MessagePort, settings: ThreadSettings) {
    this.#port = port
    this.#settings = settings
    this.#db = openForWriting(settings.folder)
    migrate(this.#db)
    this.#keeper = new LogKeeper(this.#db, settings)
  }

  hear(message: ToWriter): void {
    let next: ToWriter | undefined = message
    while (next !== undefined) next = next.kind === 'facts' ? this.#write(next) : this.#obey(next)
  }

  /** Writes the received packs in one transaction. Returns the next message, if there is one. */
  #write(first: Packed): ToWriter | undefined {
    const packs: Packed[] = []
    const calls: (readonly Fact[])[] = []
    let bytes = 0
    let next: ToWriter | undefined = first
    while (next?.kind === 'facts' && bytes < MOST_BYTES) {
      packs.push(next)
      bytes += next.size
      for (const facts of unpackCalls(next.memory, next.size)) calls.push(facts)
      next = receiveMessageOnPort(this.#port)?.message as ToWriter | undefined
    }
    this.#commit(first.first, calls)
    if (packs.some(({ power }) => power)) this.#log?.sync.want(first.first + calls.length - 1)
    this.#keeper.wrote(bytes * 2 + calls.length * LOG_BYTES_A_CALL + LOG_BYTES_A_COMMIT)
    return next
  }

  #commit(first: number, calls: readonly (readonly Fact[])[]): void {
    const late: { call: number; tasks: readonly string[] }[] = []
    const failed: Extract<FromWriter, { kind: 'committed' }>['failed'][number][] = []
    for (const [i, outcome] of (this.#writer as FactWriter).write(calls).entries()) {
      if ('error' in outcome) failed.push({ call: first + i, fault: faultOf(outcome.error) })
      else if (outcome.late.length > 0) late.push({ call: first + i, tasks: outcome.late })
    }
    this.#send({ kind: 'committed', upTo: first + calls.length - 1, late, failed })
  }

  #obey(message: Exclude<ToWriter, Packed>): undefined {
    if (message.kind === 'recover') this.#recover()
    else if (message.kind === 'more') this.#sendOpen()
    else if (message.kind === 'forget') this.#forget(message)
    else void this.#close()
  }

  #recover(): void {
    try {
      const ownership = takeEpoch(this.#db, this.#settings.owner)
      this.#log ??= this.#openLog()
      fdatasyncSync(this.#log.fd)
      this.#writer = new FactWriter(this.#db, { by: ownership, open: [] })
      const { epoch } = ownership
      this.#recovery = { pages: openPages(this.#db, OPEN_TASKS_AT_ONCE), epoch, namesOffered: namesOffered(this.#db) }
    } catch (error) {
      this.#send({ kind: 'unrecovered', fault: faultOf(error) })
    }
    for (let i = 0; i < PAGES_AHEAD; i++) this.#sendOpen()
  }

  /** Sends a page of open tasks; after the last one, the end of the recovery. */
  #sendOpen(): void {
    if (this.#recovery === undefined) return
    const { pages, epoch, namesOffered } = this.#recovery
    try {
      const { value: page, done } = pages.next()
      if (done) {
        this.#recovery = undefined
        this.#send({ kind: 'recovered', epoch, namesOffered })
        return
      }
      this.#send({ kind: 'open', page, epoch, namesOffered })
      for (const known of knownIn(page)) this.#writer?.know(known)
    } catch (error) {
      this.#recovery = undefined
      this.#send({ kind: 'unrecovered', fault: faultOf(error) })
    }
  }

  /** The log exists only after a commit. It is the same file until all connections are closed. */
  #openLog(): { fd: number; sync: LogSync } {
    const folder = openSync(this.#settings.folder, 'r')
    fsyncSync(folder) // makes the directory entries of the files durable
    closeSync(folder)
    const fd = openSync(logFile(this.#settings.folder), 'r+')
    return { fd, sync: new LogSync(fd, (upTo, fault) => this.#send({ kind: 'synced', upTo, fault })) }
  }

  #forget({ id, before }: Extract<ToWriter, { kind: 'forget' }>): void {
    const steps = forgetting(this.#db, before)
    let tasks = 0
    const step = (): void => {
      try {
        const { value, done } = steps.next()
        tasks += value ?? 0
        if (done || this.#isClosing) this.#send({ kind: 'forgotten', id, tasks, fault: undefined })
        else setImmediate(step) // facts are written in between
      } catch (error) {
        this.#send({ kind: 'forgotten', id, tasks, fault: faultOf(error) })
      }
    }
    step()
  }

  async #close(): Promise<void> {
    this.#isClosing = true
    await this.#log?.sync.settled()
    await this.#keeper.close()
    try {
      this.#db.close()
      this.#send({ kind: 'closed', fault: undefined })
    } catch (error) {
      this.#send({ kind: 'closed', fault: faultOf(error) })
    }
    if (this.#log !== undefined) closeSync(this.#log.fd)
    this.#port.close()
  }

  #send(message: FromWriter): void {
    this.#port.postMessage(message)
  }
}

function serve(port: MessagePort): void {
  try {
    const writer = new WriterThread(port, workerData as ThreadSettings)
    port.on('message', (message: ToWriter) => writer.hear(message))
    port.postMessage({ kind: 'opened' } satisfies FromWriter)
  } catch (error) {
    port.postMessage({ kind: 'refused', fault: faultOf(error) } satisfies FromWriter)
  }
}

if (parentPort !== null) serve(parentPort)
