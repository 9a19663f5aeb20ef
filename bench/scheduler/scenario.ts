import type { Effect } from '../../src/scheduler/model/effects.ts'
import type { GridEvent, Property, Submit } from '../../src/scheduler/model/events.ts'
import { createScheduler, type Scheduler } from '../../src/scheduler/scheduler.ts'
import { type Random, randomFrom } from '../../src/testing/random-source.ts'

export interface Size {
  readonly tasks: number
  readonly workers: number
  readonly signatures: number
  readonly instances: number
}

/** Memory is proportional to processors, as on most machines. */
const SIZES = [1, 2, 4].map((cpu) => ({ cpu, memoryBytes: cpu * 2 * 2 ** 30 }))
const INVOCATIONS = 100
const GROUPS = 10
const SLOTS = 4
const TOOLCHAINS = 16
const TASKS_A_ROOT = 10
const UNFIT_PART = 0.2
const MEAN_TASK_MS = 2000
const EPOCH = 1

/** An attempt as numbers: keeping the effect would keep its strings in the CPU cache, which a server would not have. */
interface Running {
  readonly task: number
  readonly worker: number
  readonly counter: number
}

/**
 * A grid under load: `tasks` tasks are queued, a fifth of them for workers that never connect. Workers are in ten
 * groups, and half of the signatures require one group. Tasks need one, two or four processors, and have inputs that
 * some worker had before.
 *
 * Events are made before the measurement and effects are read after it. Every string of an event is new, as if it had
 * been received.
 */
export class Scenario {
  readonly scheduler: Scheduler
  readonly #size: Size
  readonly #random: Random
  readonly #fitting: readonly Property[][]
  readonly #unfit: readonly Property[][]
  /** The attempts in slots, from which the next ends are chosen. */
  readonly #running: Running[] = []
  readonly #told: (readonly Effect[])[] = []
  #submitted = 0
  #now = 0
  #digest = 0
  decisions = 0

  constructor(size: Size) {
    this.#size = size
    this.#random = randomFrom(42)
    const { below } = randomFrom(43)
    this.scheduler = createScheduler({
      epoch: EPOCH,
      random: () => below(2 ** 30) / 2 ** 30,
      maxQueued: 10 * size.tasks,
      strategy: 'weighted',
      noWorkerGraceMs: 1e12,
      heartbeatTimeoutMs: 1e12,
      unhealthyAfterMs: 1e12,
      leaseMs: 1e12,
    })
    const signatures = Array.from({ length: size.signatures }, (_, i) => i)
    this.#fitting = signatures.map((i) => signature('linux', i))
    this.#unfit = signatures.map((i) => signature('windows', i))
  }

  /** The hash of all effects so far: equal decisions have equal hashes. */
  get digest(): string {
    return (this.#digest >>> 0).toString(16).padStart(8, '0')
  }

  submitAll(): void {
    for (let i = 0; i < this.#size.tasks; i++) this.#applyOne(this.#submission(!this.#random.chance(UNFIT_PART)))
  }

  registerAll(): void {
    for (let i = 0; i < this.#size.workers; i++) this.#applyOne(registration(i))
  }

  /** Makes `count` ends of random running tasks; there must be that many. */
  ends(count: number): GridEvent[] {
    return Array.from({ length: count }, () => {
      const at = this.#random.below(this.#running.length)
      const ended = this.#running[at]
      const last = this.#running.pop()
      if (ended === undefined || last === undefined) throw new Error('nothing runs')
      if (at < this.#running.length) this.#running[at] = last
      const outcome = { kind: 'result', succeeded: true } as const
      const fencing = { epoch: EPOCH, counter: ended.counter }
      return { kind: 'finished', task: taskId(ended.task), worker: whole(`worker-${ended.worker}`), fencing, outcome }
    })
  }

  /** Makes `count` new tasks. */
  arrivals(count: number): GridEvent[] {
    return Array.from({ length: count }, () => this.#submission(true))
  }

  /** Applies events; this is measured. */
  apply(events: readonly GridEvent[]): void {
    for (const event of events) this.#told.push(this.scheduler.apply(event, ++this.#now))
  }

  /** Reads the effects. Staging ahead is not a decision: only a start in a slot counts. */
  look(): void {
    for (const effects of this.#told) for (const effect of effects) this.#note(effect)
    this.#told.length = 0
  }

  #applyOne(event: GridEvent): void {
    for (const effect of this.scheduler.apply(event, this.#now)) this.#note(effect)
  }

  #note(effect: Effect): void {
    if (effect.kind === 'refused') throw new Error(effect.what)
    const about = 'task' in effect ? taskNumber(effect.task) : workerNumber(effect.worker)
    this.#digest = (Math.imul(this.#digest, 31) + Math.imul(effect.kind.length, 65_537) + about) | 0
    if (effect.kind !== 'begin' && (effect.kind !== 'leased' || effect.prefetch)) return
    const worker = workerNumber(effect.worker)
    this.#digest = (Math.imul(this.#digest, 31) + worker) | 0
    this.#running.push({ task: about, worker, counter: effect.fencing.counter })
    this.decisions++
  }

  #submission(fits: boolean): Submit {
    const random = this.#random
    const properties = (fits ? this.#fitting : this.#unfit)[random.below(this.#size.signatures)] ?? []
    const n = this.#submitted++
    return {
      kind: 'submit',
      task: taskId(n),
      instance: whole(`instance-${random.below(this.#size.instances)}`),
      invocation: whole(`invocation-${random.below(INVOCATIONS)}`),
      priority: random.below(3),
      properties,
      demands: SIZES[random.below(SIZES.length)] ?? {},
      affinity: [whole(`root-${Math.floor(n / TASKS_A_ROOT)}`), whole(`toolchain-${random.below(TOOLCHAINS)}`)],
      actionKey: whole(`${n.toString(16).padStart(64, '0')}/142`),
      estimateMs: random.below(2 * MEAN_TASK_MS),
      waiter: whole(`operations/${n}`),
    }
  }
}

const ID_START = '5e3b7c1a-9d24-4f60-8a17-'
/** Makes a flat string, like one that was received: V8 keeps a concatenation as a tree of parts until it is read. */
const whole = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
const taskId = (n: number): string => whole(`${ID_START}${n.toString(16).padStart(12, '0')}`)
const taskNumber = (id: string): number => Number.parseInt(id.slice(ID_START.length), 16)
const workerNumber = (id: string): number => Number(id.slice('worker-'.length))

const registration = (i: number): GridEvent => ({
  kind: 'register',
  worker: `worker-${i}`,
  slots: SLOTS,
  prefetch: 1,
  resources: { cpu: 8, memoryBytes: 64 * 2 ** 30 },
  properties: [
    { name: 'OSFamily', value: 'linux' },
    { name: 'container-image', value: '*' },
    { name: 'group', value: `g${i % GROUPS}` },
  ],
})

function signature(family: string, i: number): Property[] {
  const properties = [
    { name: 'OSFamily', value: family },
    { name: 'container-image', value: `docker://images/build@sha256:${i.toString(16).padStart(64, '0')}` },
  ]
  if (i % 2 === 1) properties.push({ name: 'group', value: `g${i % GROUPS}` })
  return properties
}
