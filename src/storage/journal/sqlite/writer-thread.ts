/**
 * The thread that has the connection that writes. All packs that have come in while a transaction was being committed
 * go into the next one, so the busier it is the less each costs.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Fact } from '../fact.ts'
import { unpackCalls } from '../fact-unpacking.ts'
import { FactWriter, type KnownTask } from './fact-writer.ts'
import { LogKeeper } from './log-keeper.ts'
import { LogSync } from './log-sync.ts'
import { logFile, openForWriting } from './open-database.ts'
import { knownIn, namesOffered, openPages, takeEpoch } from './recovery.ts'
import { forgetting } from './retention.ts'
import { migrate } from './schema.ts'
import { faultOf } from './sqlite-fault.ts'
import type { FromWriter, Packed, ThreadSettings, ToWriter } from './thread-messages.ts'

/** Enough to share a commit, and not so much that those who came first wait for long. */
const MOST_BYTES = 4 * 1024 * 1024
const OPEN_TASKS_AT_ONCE = 1000
/** What a call adds to the log beyond its own bytes, roughly: parts of pages. */
const LOG_BYTES_A_CALL = 600
/**
 * And what a transaction does, however small: the last page of each table and index is in the log whole. Where there
 * are a thousand small ones a second, that is most of the log.
 */
const LOG_BYTES_A_COMMIT = 4 * 8192

class WriterThread {
  readonly #port: MessagePort
  readonly #settings: ThreadSettings
  readonly #db
  readonly #keeper: LogKeeper
  #writer: FactWriter | undefined
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

  /** One transaction of what is there; answers with the message after it, if one has come. */
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
    this.#say({ kind: 'committed', upTo: first + calls.length - 1, late, failed })
  }

  #obey(message: Exclude<ToWriter, Packed>): undefined {
    if (message.kind === 'recover') this.#recover()
    else if (message.kind === 'forget') this.#forget(message)
    else void this.#close()
  }

  #recover(): void {
    try {
      const ownership = takeEpoch(this.#db, this.#settings.owner)
      this.#log ??= this.#openLog()
      fdatasyncSync(this.#log.fd)
      const known: KnownTask[] = []
      for (const page of openPages(this.#db, OPEN_TASKS_AT_ONCE)) {
        this.#say({ kind: 'open', page })
        for (const task of knownIn(page)) known.push(task)
      }
      this.#writer = new FactWriter(this.#db, { by: ownership, open: known })
      this.#say({ kind: 'recovered', epoch: ownership.epoch, namesOffered: namesOffered(this.#db) })
    } catch (error) {
      this.#say({ kind: 'unrecovered', fault: faultOf(error) })
    }
  }

  /** Only once a transaction was committed is there sure to be a log; it stays the same file until all is closed. */
  #openLog(): { fd: number; sync: LogSync } {
    const folder = openSync(this.#settings.folder, 'r')
    fsyncSync(folder) // that the files are there at all
    closeSync(folder)
    const fd = openSync(logFile(this.#settings.folder), 'r+')
    return { fd, sync: new LogSync(fd, (upTo, fault) => this.#say({ kind: 'synced', upTo, fault })) }
  }

  #forget({ id, before }: Extract<ToWriter, { kind: 'forget' }>): void {
    const steps = forgetting(this.#db, before)
    let tasks = 0
    const step = (): void => {
      try {
        const { value, done } = steps.next()
        tasks += value ?? 0
        if (done || this.#isClosing) this.#say({ kind: 'forgotten', id, tasks, fault: undefined })
        else setImmediate(step) // facts go in between
      } catch (error) {
        this.#say({ kind: 'forgotten', id, tasks, fault: faultOf(error) })
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
      this.#say({ kind: 'closed', fault: undefined })
    } catch (error) {
      this.#say({ kind: 'closed', fault: faultOf(error) })
    }
    if (this.#log !== undefined) closeSync(this.#log.fd)
    this.#port.close()
  }

  #say(message: FromWriter): void {
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
