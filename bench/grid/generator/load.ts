/** The load generator, in a separate process, so that its CPU time is not counted as the server's. */
import type { Channel } from '../../../src/grpc/client/channel.ts'
import type { Timestamp } from '../../../src/model/timestamp.ts'
import { answerWith } from '../../child.ts'
import { type BenchAction, benchAction } from './actions.ts'
import { channelTo, execute, timesOf, uploadAll } from './grid-client.ts'
import { hireHollow } from './hollow-worker.ts'
import { type Pace, paced } from './pace.ts'

export type LoadQuestion =
  /** Makes and uploads this many actions for later loads. */
  | { readonly ask: 'prepare'; readonly port: number; readonly count: number; readonly word: string }
  /** Executes each action once; it is not in the cache. */
  | ({ readonly ask: 'run' } & Pace)
  /** Executes one action again and again; it is in the cache. */
  | ({ readonly ask: 'hit' } & Pace)
  /** Sends all further tasks to a worker in this process, which finishes them at once. */
  | { readonly ask: 'hire' }
  | { readonly ask: 'dismiss' }

export interface LoadAnswer {
  readonly count: number
  readonly ms: number
  /** From the call to its last message, in ms. */
  readonly latencies: readonly number[]
  /** From the call until the worker in this process has the task, including the time of the call to the server. */
  readonly delays: readonly number[]
  /** The stages of an attempt, in ms on average. */
  readonly stages: Readonly<Record<string, number>>
}

let channel: Channel | undefined
let workerChannel: Channel | undefined
let port = 0
let dismiss = (): void => {}
let stock: BenchAction[] = []
const sentAt = new Map<string, number>()
let delays: number[] = []

const connected = (): Channel => {
  if (channel === undefined) throw new Error('prepare comes first')
  return channel
}

async function prepare({ port: given, count, word }: Extract<LoadQuestion, { ask: 'prepare' }>): Promise<void> {
  if (port !== given) {
    channel?.close()
    channel = channelTo(given)
    port = given
  }
  stock = Array.from({ length: count }, (_, i) => benchAction(`${word} ${i}`))
  await uploadAll(connected(), stock)
}

async function run(pace: Pace): Promise<LoadAnswer> {
  const latencies: number[] = []
  const stages = new StageSums()
  delays = []
  const actions = stock
  const one = async (number: number): Promise<void> => {
    const action = actions[number] as BenchAction
    const start = now()
    sentAt.set(`${action.digest.hash}/${action.digest.size}`, start)
    const operation = await execute(connected(), action)
    const end = now()
    latencies.push(end - start)
    if (operation.response?.cached) throw new Error('what was to be run came from the cache')
    stages.add({ start, end, times: timesOf(operation) })
  }
  const { count, ms } = await paced({ ...pace, count: Math.min(pace.count, actions.length) }, one)
  stock = actions.slice(count)
  sentAt.clear()
  return { count, ms, latencies, delays, stages: stages.means() }
}

async function hit(pace: Pace): Promise<LoadAnswer> {
  const [action] = stock as [BenchAction]
  await execute(connected(), action)
  const latencies: number[] = []
  const one = async (): Promise<void> => {
    const start = now()
    const operation = await execute(connected(), action)
    latencies.push(now() - start)
    if (!operation.response?.cached) throw new Error('what the cache holds was run')
  }
  const { count, ms } = await paced(pace, one)
  return { count, ms, latencies, delays: [], stages: {} }
}

async function hire(): Promise<void> {
  workerChannel = channelTo(port)
  dismiss = await hireHollow(workerChannel, (action) => {
    const sent = sentAt.get(action)
    if (sent !== undefined) delays.push(now() - sent)
  })
}

/** Milliseconds since 1970, with fractions. */
const now = (): number => performance.timeOrigin + performance.now()

interface Told {
  readonly start: number
  readonly end: number
  readonly times: ReturnType<typeof timesOf>
}

/** The sums of stages. The clocks count whole milliseconds, so only an average of many is exact. */
class StageSums {
  readonly #sums = new Map<string, number>()
  #count = 0

  add({ start, end, times }: Told): void {
    const { queued, workerStart, inputFetchStart, inputFetchCompleted, executionStart } = times
    const { executionCompleted, outputUploadStart, outputUploadCompleted, workerCompleted } = times
    const marks = {
      'call → queued': queued,
      'queued → worker has it': workerStart,
      room: inputFetchStart,
      inputs: inputFetchCompleted,
      'to the spawner': executionStart,
      'run (spawn, /bin/true, reap)': executionCompleted,
      'after the run': outputUploadStart,
      'collect, upload': outputUploadCompleted,
      'worker is done': workerCompleted,
    }
    let last = start
    for (const [name, mark] of Object.entries(marks)) {
      if (mark === undefined) continue
      const at = inMs(mark)
      this.#add(name, at - last)
      last = at
    }
    this.#add('room gone, report, client is told', end - last)
    this.#count++
  }

  means(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, sum]) => [name, sum / this.#count]))
  }

  #add(name: string, ms: number): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0) + ms)
  }
}

/** Returns the middle of the millisecond in the timestamp. */
const inMs = ({ seconds, nanos }: Timestamp): number => seconds * 1000 + nanos / 1e6 + 0.5

answerWith((question: LoadQuestion) => {
  switch (question.ask) {
    case 'prepare':
      return prepare(question)
    case 'run':
      return run(question)
    case 'hit':
      return hit(question)
    case 'hire':
      return hire()
    case 'dismiss':
      dismiss()
      workerChannel?.close()
      return undefined
  }
})
