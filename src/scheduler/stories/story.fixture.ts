import { expect } from 'vitest'
import type { Fencing } from '../../model/fencing.ts'
import { randomFrom } from '../../testing/random-source.ts'
import type { Effect } from '../model/effects.ts'
import type { AttemptEnd, GridEvent, Property, Register, Restore, Submit } from '../model/events.ts'
import type { SchedulerOptions } from '../model/options.ts'
import { createScheduler } from '../scheduler.ts'

/** Optional fields: a story states only those that matter to it. */
type Asked = Partial<Omit<Submit, 'kind' | 'task' | 'properties'>> & { needs?: Readonly<Record<string, string>> }
type Offered = Partial<Omit<Register, 'kind' | 'worker' | 'properties'>>
type Remembered = Partial<Omit<Restore, 'kind' | 'task' | 'properties'>>

export const linux = { OSFamily: 'linux' }
export const windows = { OSFamily: 'windows' }

const properties = (of: Readonly<Record<string, string | readonly string[]>>): Property[] =>
  Object.entries(of).flatMap(([name, value]) => [value].flat().map((one) => ({ name, value: one })))

const milliseconds = (text: string): number => {
  const [, number, unit] = /^([\d.]+)\s?(ms|s|m)$/.exec(text) ?? []
  if (number === undefined) throw new Error(`${text} is not a duration`)
  return Number(number) * (unit === 'ms' ? 1 : unit === 's' ? 1000 : 60_000)
}

/** The state of a task or worker, derived from the effects. */
interface Shown {
  text: string
  worker?: string
  fencing?: Fencing
}

/** A history of the grid in readable form: each action of a worker or client is one verb. */
export class Story {
  readonly core
  readonly log: Effect[] = []
  readonly shown = new Map<string, Shown>()
  now = 0
  readonly #beating = new Set<string>()

  constructor(options: Partial<SchedulerOptions> = {}) {
    const { below } = randomFrom(7)
    this.core = createScheduler({ epoch: 1, random: () => below(1e6) / 1e6, ...options })
  }

  happens(event: GridEvent): this {
    const effects = this.core.apply(event, this.now)
    this.log.push(...effects)
    for (const effect of effects) this.#note(effect)
    return this
  }

  worker(worker: string, offers: Readonly<Record<string, string | readonly string[]>>, more: Offered = {}): this {
    return this.happens({
      kind: 'register',
      worker,
      slots: 1,
      resources: {},
      ...more,
      properties: properties(offers),
    })
  }

  submits(task: string, { needs = {}, ...more }: Asked = {}): this {
    return this.happens({
      kind: 'submit',
      task,
      instance: '',
      invocation: 'build',
      priority: 0,
      demands: {},
      waiter: `operations/${task}`,
      ...more,
      properties: properties(needs),
    })
  }

  restores(task: string, more: Remembered = {}): this {
    const empty = { instance: '', invocation: 'build', priority: 0, demands: {}, waiters: [`operations/${task}`] }
    return this.happens({
      kind: 'restore',
      task,
      ...empty,
      ageMs: 0,
      faults: 0,
      lostWorkers: [],
      ...more,
      properties: [],
    })
  }

  /** The worker reports that it has started the task. */
  starts(task: string): this {
    return this.happens({ kind: 'started', ...this.attempt(task) })
  }

  finishes(task: string, outcome: AttemptEnd = { kind: 'result', succeeded: true }): this {
    return this.happens({ kind: 'finished', outcome, ...this.attempt(task) })
  }

  fails(task: string, what = 'the disk is full'): this {
    return this.finishes(task, { kind: 'fault', what })
  }

  cancels(task: string): this {
    return this.happens({ kind: 'cancel', task })
  }

  /** From now on the worker sends a heartbeat every five seconds. */
  beats(...workers: string[]): this {
    for (const worker of workers) this.#beating.add(worker)
    return this
  }

  falls(silent: string): this {
    this.#beating.delete(silent)
    return this
  }

  /** Advances the clock, with heartbeats and with the ticks that are due. */
  after(duration: string): this {
    const end = this.now + milliseconds(duration)
    for (;;) {
      const beat = Math.floor(this.now / 5000) * 5000 + 5000
      const next = Math.min(end, beat, Math.max(this.core.nextDue() ?? end, this.now))
      this.now = next
      if (next === beat) for (const worker of this.#beating) this.happens({ kind: 'heartbeat', worker })
      this.happens({ kind: 'tick' })
      if (next === end) return this
    }
  }

  /** The last lease of the task. */
  attempt(task: string): { task: string; worker: string; fencing: Fencing } {
    const { worker, fencing } = this.shown.get(task) ?? {}
    if (worker === undefined || fencing === undefined) throw new Error(`${task} was never handed to a worker`)
    return { task, worker, fencing }
  }

  holder(task: string): string | undefined {
    return /(?:assigned to|running on) (\S+)/.exec(this.shown.get(task)?.text ?? '')?.[1]
  }

  count(kind: Effect['kind']): number {
    return this.log.filter((effect) => effect.kind === kind).length
  }

  #note(effect: Effect): void {
    const set = (name: string, text: string) => this.shown.set(name, { ...this.shown.get(name), text })
    if (effect.kind === 'worker') set(effect.worker, effect.state === 'OFFLINE' ? 'gone' : effect.state)
    if (effect.kind === 'refused') set(effect.task, `refused: ${effect.what}`)
    if (effect.kind === 'merged') set(effect.submitted, `merged into ${effect.task}`)
    if (effect.kind === 'queued') set(effect.task, effect.attempt > 1 ? `queued  attempt ${effect.attempt}` : 'queued')
    if (effect.kind === 'retrying') set(effect.task, 'retrying')
    if (effect.kind === 'stopping') set(effect.task, 'stopping')
    if (effect.kind === 'finished') set(effect.task, `${effect.state}: ${effect.what}`)
    if (effect.kind === 'leased') {
      const { worker, fencing, attempt, prefetch } = effect
      const text = `${prefetch ? 'staged on' : 'assigned to'} ${worker}  attempt ${attempt}`
      this.shown.set(effect.task, { text, worker, fencing })
    }
    if (effect.kind === 'begin') set(effect.task, `assigned to ${effect.worker}`)
    if (effect.kind === 'started') set(effect.task, `running on ${effect.worker}`)
  }
}

export const story = (options?: Partial<SchedulerOptions>): Story => new Story(options)

const lines = (text: string): string[] => text.split('\n').flatMap((line) => line.trim().replaceAll(/\s+/g, ' ') || [])

expect.extend({
  /** Each line is a name and the beginning of its state. */
  toShow(grid: Story, expected: string) {
    const wanted = lines(expected)
    const seen = wanted.map((line) => {
      const name = line.split(' ')[0] ?? ''
      return `${name} ${grid.shown.get(name)?.text ?? 'is not there'}`.replaceAll(/\s+/g, ' ')
    })
    const pass = wanted.every((line, i) => seen[i]?.startsWith(line))
    return { pass, message: () => `expected\n  ${wanted.join('\n  ')}\nbut there is\n  ${seen.join('\n  ')}` }
  },
})

declare module 'vitest' {
  interface Matchers {
    toShow(expected: string): void
  }
}
