import type { Effect } from '../../src/scheduler/effects.ts'
import type { Property, Submit } from '../../src/scheduler/events.ts'
import { createScheduler, type Scheduler } from '../../src/scheduler/scheduler.ts'
import { type Random, randomFrom } from '../../src/testing/random-source.ts'

export interface Size {
  readonly tasks: number
  readonly workers: number
  readonly signatures: number
  readonly instances: number
}

/** Memory goes with processors, as it does on machines that are sold by the size. */
const SIZES = [1, 2, 4].map((cpu) => ({ cpu, memoryBytes: cpu * 2 * 2 ** 30 }))
const INVOCATIONS = 100
const GROUPS = 10
const SLOTS = 4
const TOOLCHAINS = 16
const TASKS_A_ROOT = 10
const UNFIT_PART = 0.2
const MEAN_TASK_MS = 2000

/**
 * A grid under load: as many tasks wait as the size says, a fifth of them for workers that will never come. Workers are
 * in ten groups, and half of the signatures ask for one; tasks take one, two or four processors, and have inputs that
 * some worker had before.
 */
export class Scenario {
  readonly scheduler: Scheduler
  readonly #size: Size
  readonly #random: Random
  readonly #fitting: readonly Property[][]
  readonly #unfit: readonly Property[][]
  /** What is on a worker: for choosing what ends next. */
  readonly #running: Extract<Effect, { kind: 'leased' }>[] = []
  readonly #prepared: Submit[] = []
  #submitted = 0
  #now = 0
  decisions = 0

  constructor(size: Size) {
    this.#size = size
    this.#random = randomFrom(42)
    const { below } = randomFrom(43)
    this.scheduler = createScheduler({
      epoch: 1,
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

  submitAll(): void {
    for (let i = 0; i < this.#size.tasks; i++) this.#apply(this.#submission(!this.#random.chance(UNFIT_PART)))
  }

  registerAll(): void {
    for (let i = 0; i < this.#size.workers; i++) {
      const group = `g${i % GROUPS}`
      this.#apply({
        kind: 'register',
        worker: `worker-${i}`,
        slots: SLOTS,
        prefetch: 1,
        resources: { cpu: 8, memoryBytes: 64 * 2 ** 30 },
        properties: [
          { name: 'OSFamily', value: 'linux' },
          { name: 'container-image', value: '*' },
          { name: 'group', value: group },
        ],
      })
    }
  }

  /** Makes the events of the next arrivals, so that making them is not measured. */
  prepare(arrivals: number): void {
    while (this.#prepared.length < arrivals) this.#prepared.push(this.#submission(true))
  }

  /** So many tasks end, whichever they are. */
  end(tasks: number): void {
    for (let i = 0; i < tasks; i++) {
      this.#now += 1
      const at = this.#random.below(this.#running.length)
      const ended = this.#running[at]
      const last = this.#running.pop()
      if (ended === undefined || last === undefined) throw new Error('nothing runs')
      if (at < this.#running.length) this.#running[at] = last
      const { task, worker, fencing } = ended
      this.#apply({ kind: 'finished', task, worker, fencing, outcome: { kind: 'result', succeeded: true } })
    }
  }

  /** So many of the prepared ones come. */
  submit(tasks: number): void {
    for (let i = 0; i < tasks; i++) this.#apply(this.#prepared.pop() ?? this.#submission(true))
  }

  #submission(fits: boolean): Submit {
    const random = this.#random
    const signature = (fits ? this.#fitting : this.#unfit)[random.below(this.#size.signatures)]
    const n = this.#submitted++
    return {
      kind: 'submit',
      task: `5e3b7c1a-9d24-4f60-8a17-${n.toString(16).padStart(12, '0')}`,
      instance: `instance-${random.below(this.#size.instances)}`,
      invocation: `invocation-${random.below(INVOCATIONS)}`,
      priority: random.below(3),
      properties: signature ?? [],
      demands: SIZES[random.below(SIZES.length)] ?? {},
      affinity: [`root-${Math.floor(n / TASKS_A_ROOT)}`, `toolchain-${random.below(TOOLCHAINS)}`],
      actionKey: `${n.toString(16).padStart(64, '0')}/142`,
      estimateMs: random.below(2 * MEAN_TASK_MS),
      waiter: `operations/${n}`,
    }
  }

  /** Staged ahead is not a decision: only what goes into a slot counts. */
  #apply(event: Parameters<Scheduler['apply']>[0]): void {
    for (const effect of this.scheduler.apply(event, this.#now)) {
      if (effect.kind === 'leased' && !effect.prefetch) {
        this.#running.push(effect)
        this.decisions++
      } else if (effect.kind === 'begin') {
        this.#running.push({ ...effect, kind: 'leased', attempt: 1, expiresAt: 0, prefetch: false })
        this.decisions++
      } else if (effect.kind === 'refused') throw new Error(effect.what)
    }
  }
}

function signature(family: string, i: number): Property[] {
  const properties = [
    { name: 'OSFamily', value: family },
    { name: 'container-image', value: `docker://images/build@sha256:${i.toString(16).padStart(64, '0')}` },
  ]
  if (i % 2 === 1) properties.push({ name: 'group', value: `g${i % GROUPS}` })
  return properties
}
