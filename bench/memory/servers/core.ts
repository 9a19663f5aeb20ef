/** The engine over its journal in a separate process, so that its memory is measured without that of the bench. */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../../src/app/process/clock.ts'
import { createEngine, type LocalEngine } from '../../../src/engine/engine.ts'
import { LOCAL_CALLER } from '../../../src/model/caller.ts'
import { sqliteJournal } from '../../../src/storage/journal/sqlite/sqlite-journal.ts'
import { answerWith } from '../../child.ts'

export type CoreQuestion =
  | { readonly ask: 'open'; readonly folder: string }
  | { readonly ask: 'submit'; readonly tasks: number }
  | { readonly ask: 'hire'; readonly workers: number }
  | { readonly ask: 'observe'; readonly ms: number }
  | { readonly ask: 'close' }

export interface CoreAnswer {
  /** CPU time of all threads while the question was answered. */
  readonly cpuMs: number
  readonly wallMs: number
  /** Measured after a full garbage collection on the main thread. */
  readonly rssBytes: number
  readonly heapBytes: number
  readonly tasks: number
}

const AT_ONCE = 1000
const BUILDS = 20
const NOTE = randomBytes(100)
const SPEC = randomBytes(300)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let engine: LocalEngine | undefined
let closeJournal = async (): Promise<void> => {}

async function open(folder: string): Promise<void> {
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  closeJournal = () => journal.close()
  const scheduler = { maxQueued: 1_000_000 }
  engine = await createEngine({ journal, clock: systemClock, newId: randomUUID, random: Math.random, scheduler })
}

const opened = (): LocalEngine => {
  if (engine === undefined) throw new Error('open comes first')
  return engine
}

/** Submits tasks like those of Execute. No worker offers their properties, so they stay queued. */
async function submit(tasks: number): Promise<void> {
  let number = 0
  const one = () =>
    opened().submit(LOCAL_CALLER, {
      instance: '',
      invocation: `build-${++number % BUILDS}`,
      origin: 'action',
      spec: SPEC,
      note: NOTE,
      properties: [{ name: 'OSFamily', value: 'none' }],
      actionKey: `${randomBytes(32).toString('hex')}/142`,
      cacheable: true,
      needsWaiter: true,
    })
  for (let left = tasks; left > 0; left -= AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, one))
}

/** Registers workers. Each polls again when its poll ends without a task, after one second. */
function hire(workers: number): void {
  const session = { lease() {}, begin() {}, stop() {}, order() {}, close() {} }
  for (let i = 0; i < workers; i++) {
    const worker = `worker-${i}`
    opened().workers.register(
      { worker, slots: 1, pulls: true, properties: [{ name: 'OSFamily', value: 'linux' }] },
      session,
    )
    const poll = (): void => void opened().workers.ask({ worker, waitMs: 1000 }, poll)
    poll()
  }
}

async function obey(question: CoreQuestion): Promise<void> {
  switch (question.ask) {
    case 'open':
      return open(question.folder)
    case 'submit':
      return submit(question.tasks)
    case 'hire':
      return hire(question.workers)
    case 'observe':
      return sleep(question.ms)
    case 'close':
      await engine?.close()
      return closeJournal()
  }
}

answerWith(async (question: CoreQuestion): Promise<CoreAnswer> => {
  const start = { at: performance.now(), cpu: process.cpuUsage() }
  await obey(question)
  const { user, system } = process.cpuUsage(start.cpu)
  const wallMs = performance.now() - start.at
  collect()
  const { rss: rssBytes, heapUsed, arrayBuffers } = process.memoryUsage()
  const tasks = engine?.figures().operations ?? 0
  return { cpuMs: (user + system) / 1000, wallMs, rssBytes, heapBytes: heapUsed + arrayBuffers, tasks }
})
