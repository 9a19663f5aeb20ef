import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomFrom } from '../testing/random-source.ts'
import type { AttemptEnd, GridEvent, Register, Submit } from './model/events.ts'
import { STRATEGIES } from './model/options.ts'
import { createScheduler } from './scheduler.ts'
import { Witness } from './witness.fixture.ts'

/** `WINDLASS_LONG=1` raises the number of runs. fast-check prints the seed of a failure. */
const RUNS = process.env.WINDLASS_LONG === '1' ? 2000 : 400

const small = (most: number) => fc.nat({ max: most })
const properties = fc.subarray([
  { name: 'os', value: 'linux' },
  { name: 'os', value: 'windows' },
  { name: 'gpu', value: 'yes' },
])
const outcome: fc.Arbitrary<AttemptEnd> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('result' as const), succeeded: fc.boolean() }) },
  fc.constantFrom<AttemptEnd>({ kind: 'timeout' }, { kind: 'stopped' }, { kind: 'fault', what: 'the grid' }),
  fc.constant<AttemptEnd>({ kind: 'fault', what: 'for good', final: true }),
)

/** Random steps. Their numbers are resolved to a task or worker when the step is applied. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      instance: small(2),
      invocation: small(2),
      priority: fc.integer({ min: -2, max: 2 }),
      properties: fc.oneof(fc.constant([]), properties),
      cpu: fc.constantFrom(0, 0.5, 1, 2, 3, 4, 6, 8),
      actionKey: fc.option(small(3)),
      affinity: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
      interactive: fc.boolean(),
      refusesPreemptible: fc.boolean(),
      timeoutMs: fc.option(fc.constant(5000)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      worker: small(4),
      slots: fc.integer({ min: 1, max: 3 }),
      prefetch: small(2),
      properties,
      cpu: fc.constantFrom(2, 4, 7, 8),
      preemptible: fc.boolean(),
      pulls: fc.boolean(),
      lists: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), which: small(9), outcome }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), which: small(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('late' as const), which: small(50), outcome }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 1000, 12_000, 70_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('beat' as const),
      worker: small(4),
      lists: fc.boolean(),
      load: fc.constantFrom(0, 0.5, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask' as const), worker: small(4), tasks: small(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'disconnected' as const,
        'unregister' as const,
        'preempted' as const,
        'drain' as const,
        'resume' as const,
      ),
      worker: small(4),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'return' as const, 'refuse' as const),
      which: small(9),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

const options = fc.record({
  strategy: fc.constantFrom(...STRATEGIES),
  seed: fc.integer({ min: 1, max: 1e6 }),
  onFailure: fc.boolean(),
})

/** Applies steps to a scheduler, with a witness that checks the effects. */
function driven({
  strategy,
  seed,
  onFailure,
}: {
  strategy: (typeof STRATEGIES)[number]
  seed: number
  onFailure: boolean
}) {
  const { below } = randomFrom(seed)
  const retry = {
    maxRetries: 2,
    maxLostWorkers: 3,
    firstDelayMs: 1000,
    maxDelayMs: 8000,
    onTimeout: onFailure,
    onFailure,
  }
  const core = createScheduler({ epoch: 1, random: () => below(1e6) / 1e6, strategy, retry, maxQueued: 1000 })
  const witness = new Witness()
  let now = 0
  const apply = (event: GridEvent): void => {
    if (event.kind === 'submit') witness.submitted(event)
    if (event.kind === 'cancel') witness.cancelAsked(event.task)
    if (event.kind === 'register') witness.registers(event)
    witness.hears(event, now)
    witness.sees(core.apply(event, now), now)
  }
  const wait = (ms: number): void => {
    const end = now + ms
    for (let due = core.nextDue(); due !== undefined && due <= end; due = core.nextDue()) {
      now = Math.max(now, due)
      apply({ kind: 'tick' })
    }
    now = end
    apply({ kind: 'tick' })
  }
  return { core, witness, apply, wait }
}

type Driven = ReturnType<typeof driven>

let tasks = 0
function perform(grid: Driven, one: Step): void {
  const { apply, wait, witness } = grid
  const holds = (worker: string) => witness.held().filter((lease) => lease.worker === worker)
  if (one.do === 'submit') apply(submission(one))
  else if (one.do === 'wait') wait(one.ms)
  else if (one.do === 'late') {
    const attempt = witness.attempts[one.which % Math.max(1, witness.attempts.length)]
    if (attempt !== undefined)
      witness.reports(attempt, () => apply({ kind: 'finished', ...attempt, outcome: one.outcome }))
  } else if ('which' in one) performOnTask(grid, one)
  else if (one.do === 'register') apply(registration(one, holds(`w${one.worker}`)))
  else if (one.do === 'ask') apply({ kind: 'ask', worker: `w${one.worker}`, tasks: one.tasks })
  else if (one.do === 'beat') {
    const worker = `w${one.worker}`
    apply({ kind: 'heartbeat', worker, load: one.load, ...(one.lists ? { holds: holds(worker) } : {}) })
  } else apply({ kind: one.do, worker: `w${one.worker}` })
}

function performOnTask({ apply, witness }: Driven, one: Extract<Step, { which: number }>): void {
  const held = witness.held()
  const lease = held[one.which % Math.max(1, held.length)]
  const task = lease?.task ?? witness.unfinished()[one.which]
  if (one.do === 'cancel' && task !== undefined) apply({ kind: 'cancel', task })
  if (lease === undefined) return
  const attempt = { task: lease.task, worker: lease.worker, fencing: lease.fencing }
  if (one.do === 'finish') apply({ kind: 'finished', ...attempt, outcome: one.outcome })
  // A staged task must not start before `begin`.
  if (one.do === 'start' && !witness.isStaged(lease.task)) apply({ kind: 'started', ...attempt })
  if (one.do === 'return') apply({ kind: 'returned', ...attempt, what: 'no thanks' })
  if (one.do === 'refuse') apply({ kind: 'returned', ...attempt, what: 'no slot', noSlot: true })
}

function submission(one: Extract<Step, { do: 'submit' }>): Submit {
  const task = `t${tasks++}`
  return {
    kind: 'submit',
    task,
    instance: `i${one.instance}`,
    invocation: `v${one.invocation}`,
    priority: one.priority,
    properties: one.properties,
    demands: { cpu: one.cpu },
    affinity: one.affinity,
    interactive: one.interactive,
    refusesPreemptible: one.refusesPreemptible,
    waiter: task,
    ...(one.actionKey === null ? {} : { actionKey: `k${one.actionKey}` }),
    ...(one.timeoutMs === null ? {} : { timeoutMs: one.timeoutMs }),
  }
}

const registration = (one: Extract<Step, { do: 'register' }>, running: Register['running'] & object): Register => ({
  kind: 'register',
  worker: `w${one.worker}`,
  // A worker that registers again with its tasks has the same size.
  slots: one.lists ? 9 : one.slots,
  prefetch: one.pulls && !one.lists ? 0 : 9,
  properties: one.lists
    ? [
        { name: 'os', value: 'linux' },
        { name: 'os', value: 'windows' },
        { name: 'gpu', value: 'yes' },
      ]
    : one.properties,
  resources: one.lists ? {} : { cpu: one.cpu },
  preemptible: one.lists ? false : one.preemptible,
  pulls: one.pulls && !one.lists,
  ...(one.lists ? { running } : {}),
})

/** Registers workers for all remaining tasks, and runs until they have ended. */
function runOut({ apply, wait, witness }: Driven): void {
  for (let worker = 0; worker <= 4; worker++) apply({ kind: 'unregister', worker: `w${worker}` })
  for (const os of ['linux', 'windows']) {
    const resources = { cpu: 16 }
    const offers = [
      { name: 'os', value: os },
      { name: 'os', value: os === 'linux' ? 'windows' : 'linux' },
      { name: 'gpu', value: 'yes' },
    ]
    apply({ kind: 'register', worker: `last-${os}`, slots: 2, resources, properties: offers })
  }
  for (let round = 0; round < 2000 && witness.unfinished().length > 0; round++) {
    const [lease] = witness.held()
    if (lease === undefined) wait(1000)
    else {
      const { task, worker, fencing } = lease
      apply({ kind: 'finished', task, worker, fencing, outcome: { kind: 'result', succeeded: true } })
    }
    for (const os of ['linux', 'windows']) apply({ kind: 'heartbeat', worker: `last-${os}` })
  }
}

const history = fc.tuple(options, fc.array(step, { minLength: 1, maxLength: 150, size: 'max' }))

test('in random histories, no task is lost or leased twice, no cancelled task completes, and no worker is overloaded', () => {
  fc.assert(
    fc.property(history, ([chosen, steps]) => {
      tasks = 0
      const grid = driven(chosen)
      for (const one of steps) perform(grid, one)
      runOut(grid)
      expect(grid.witness.unfinished()).toEqual([])
      expect(grid.core.figures()).toMatchObject({ queued: 0, active: 0, slots: { used: 0, staged: 0 } })
      expect(grid.core.figures().byInstance.size).toBe(0)
    }),
    { numRuns: RUNS },
  )
})

test('the same events produce the same effects', () => {
  fc.assert(
    fc.property(history, ([chosen, steps]) => {
      const told = [0, 1].map(() => {
        tasks = 0
        const grid = driven(chosen)
        for (const one of steps) perform(grid, one)
        return JSON.stringify(grid.witness.attempts)
      })
      expect(told[0]).toBe(told[1])
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  )
})
