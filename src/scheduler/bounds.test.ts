import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomFrom } from '../testing/random-source.ts'
import type { Effect } from './model/effects.ts'
import type { GridEvent } from './model/events.ts'
import type { SchedulerOptions } from './model/options.ts'
import { createScheduler } from './scheduler.ts'

const RUNS = process.env.WINDLASS_LONG === '1' ? 500 : 40

const NEVER = 1e12

type Leased = Extract<Effect, { kind: 'leased' }>

/** Simulates tasks of given durations on workers that always have queued tasks. */
class Simulation {
  readonly #core
  readonly #ends: { at: number; lease: Leased }[] = []
  readonly #durations = new Map<string, number>()
  readonly started = new Map<string, number>()
  now = 0

  constructor(options: Partial<SchedulerOptions>) {
    const { below } = randomFrom(5)
    const patient = { heartbeatTimeoutMs: NEVER, unhealthyAfterMs: NEVER, leaseMs: NEVER, maxQueued: 1e6 }
    this.#core = createScheduler({ epoch: 1, random: () => below(1e6) / 1e6, ...patient, ...options })
  }

  apply(event: GridEvent): void {
    for (const effect of this.#core.apply(event, this.now)) {
      if (effect.kind !== 'leased') continue
      this.started.set(effect.task, this.now)
      this.#ends.push({ at: this.now + (this.#durations.get(effect.task) ?? 0), lease: effect })
    }
  }

  worker(worker: string, slots: number, cpu: number): void {
    this.apply({ kind: 'register', worker, slots, properties: [], resources: { cpu } })
  }

  submit(task: string, { instance = '', invocation = '', durationMs = 0, cpu = 0, priority = 0 }): void {
    this.#durations.set(task, durationMs)
    const demands = { cpu }
    this.apply({ kind: 'submit', task, instance, invocation, priority, properties: [], demands, waiter: task })
  }

  /** Advances to the next end of a task or the next timer. Returns the task that ended. */
  step(): Leased | undefined {
    const due = this.#core.nextDue() ?? Number.POSITIVE_INFINITY
    let first = this.#ends[0]
    for (const one of this.#ends) if (first === undefined || one.at < first.at) first = one
    if (first === undefined || due <= first.at) {
      if (due >= NEVER) return undefined
      this.now = Math.max(this.now, due)
      this.apply({ kind: 'tick' })
      return undefined
    }
    this.now = first.at
    this.#ends.splice(this.#ends.indexOf(first), 1)
    const { task, worker, fencing } = first.lease
    this.apply({ kind: 'finished', task, worker, fencing, outcome: { kind: 'result', succeeded: true } })
    return first.lease
  }
}

const LONGEST_MS = 4000

/**
 * Bound: while two instances both have queued tasks, their usage differs by at most the uncorrected charges of the tasks
 * that can run at once: the longest task, for every slot plus one, for each of the two.
 */
const boundMs = (slots: number): number => 2 * (slots + 1) * LONGEST_MS

const shares = fc.record({
  workers: fc.integer({ min: 1, max: 4 }),
  weights: fc.array(fc.constantFrom(1, 2, 3), { minLength: 2, maxLength: 4 }),
  seed: fc.integer({ min: 1, max: 1e6 }),
  level: fc.constantFrom('instance' as const, 'invocation' as const),
})

test('instances with constant demand get their shares, within the bound', () => {
  fc.assert(
    fc.property(shares, ({ workers, weights, seed, level }) => {
      const { below } = randomFrom(seed)
      const limitsOf = Object.fromEntries(weights.map((weight, i) => [`p${i}`, { weight }]))
      const grid = new Simulation({ limitsOf })
      const party = (i: number) => (level === 'instance' ? { instance: `p${i}` } : { invocation: `p${i}` })
      const served = weights.map(() => 0)
      let made = 0
      const submit = (i: number) => {
        // Each instance has its own task duration, so that the learned estimate is wrong for each of them.
        const durationMs = 1 + below(Math.ceil(LONGEST_MS / (i + 1)))
        grid.submit(`${i}/${made++}/${durationMs}`, { ...party(i), durationMs })
      }
      for (let i = 0; i < weights.length; i++) for (let n = 0; n < 4 + workers; n++) submit(i)
      for (let w = 0; w < workers; w++) grid.worker(`w${w}`, 1, 8)
      for (let n = 0; n < 400; n++) {
        const [i, , durationMs] = (grid.step()?.task ?? '').split('/').map(Number)
        if (i === undefined || durationMs === undefined) continue
        served[i] = (served[i] ?? 0) + durationMs
        submit(i)
      }
      const entitled = served.map((ms, i) => ms / (level === 'instance' ? (weights[i] ?? 1) : 1))
      expect(Math.max(...entitled) - Math.min(...entitled)).toBeLessThanOrEqual(boundMs(workers))
    }),
    { numRuns: RUNS },
  )
})

/** Bound: an idle instance with a new task is served before every other instance has used its bound. */
test('the wait of an instance with one small task does not depend on the queues of others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 4 }), fc.nat(), (others, workers, seed) => {
      const { below } = randomFrom(seed + 1)
      const grid = new Simulation({})
      for (let w = 0; w < workers; w++) grid.worker(`w${w}`, 1, 8)
      for (let i = 0; i < others; i++)
        for (let n = 0; n < 60; n++) grid.submit(`${i}/${n}`, { instance: `p${i}`, durationMs: 1 + below(LONGEST_MS) })
      for (let n = 0; n < 30; n++) grid.step()
      const since = grid.now
      grid.submit('small', { instance: 'late', durationMs: 1 })
      for (let n = 0; n < 400 && !grid.started.has('small'); n++) grid.step()
      const waited = (grid.started.get('small') ?? Number.POSITIVE_INFINITY) - since
      expect(waited).toBeLessThanOrEqual((others + 1) * LONGEST_MS)
    }),
    { numRuns: RUNS },
  )
})

/** Bound: `reserveAfterMs`, and then the longest task that still runs on the kept worker. */
test('a stream of small tasks does not delay a large one without limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 8 }), fc.nat(), (workers, cpu, seed) => {
      const { below } = randomFrom(seed + 1)
      const reserveAfterMs = 5000
      const grid = new Simulation({ reserveAfterMs })
      for (let w = 0; w < workers; w++) grid.worker(`w${w}`, 8, 8)
      const small = (n: number) => grid.submit(`s${n}`, { durationMs: 1 + below(LONGEST_MS), cpu: 1 })
      for (let n = 0; n < 9 * workers; n++) small(n)
      for (let n = 50; n < 70; n++) {
        grid.step()
        small(n)
      }
      const since = grid.now
      grid.submit('large', { cpu, durationMs: 1, instance: 'large' })
      for (let n = 100; n < 2000 && !grid.started.has('large'); n++) {
        grid.step()
        small(n)
      }
      const waited = (grid.started.get('large') ?? Number.POSITIVE_INFINITY) - since
      expect(waited).toBeLessThanOrEqual(reserveAfterMs + 2 * LONGEST_MS)
    }),
    { numRuns: RUNS },
  )
})

/** Bound: `agingMs` for each step of priority, and then one task. */
test('a task of any priority is served after it has aged', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.nat(), (priority, seed) => {
      const { below } = randomFrom(seed + 1)
      const agingMs = 10_000
      const grid = new Simulation({ agingMs })
      grid.worker('w1', 1, 8)
      const urgent = (n: number) => grid.submit(`u${n}`, { durationMs: 1 + below(LONGEST_MS) })
      for (let n = 0; n < 3; n++) urgent(n)
      grid.submit('patient', { priority, durationMs: 1 })
      for (let n = 100; n < 2000 && !grid.started.has('patient'); n++) {
        grid.step()
        urgent(n)
      }
      expect(grid.started.get('patient')).toBeLessThanOrEqual(priority * agingMs + 5 * LONGEST_MS)
    }),
    { numRuns: RUNS },
  )
})
