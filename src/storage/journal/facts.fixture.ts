import type { Accepted, Fact, Finished, Leased, Requeued } from './fact.ts'

/** Facts of a task, with defaults for fields that a test does not check. Times count from 1,000. */
export const accepted = (task: string, rest: Partial<Accepted> = {}): Accepted => ({
  kind: 'accepted',
  task,
  operation: `operations/${task}`,
  instance: 'main',
  invocation: 'build-1',
  priority: 0,
  origin: 'action',
  spec: Buffer.from(`spec of ${task}`),
  durability: 'process',
  at: 1000,
  ...rest,
})

export const leased = (task: string, counter: number, rest: Partial<Leased> = {}): Leased => ({
  kind: 'leased',
  task,
  worker: 'w1',
  fencing: { epoch: 1, counter },
  attempt: 1,
  at: 1010,
  ...rest,
})

export const started = (task: string, counter: number): Fact => ({
  kind: 'started',
  task,
  fencing: { epoch: 1, counter },
  at: 1020,
})

export const requeued = (task: string, rest: Partial<Requeued> = {}): Requeued => ({
  kind: 'requeued',
  task,
  state: 'queued',
  attempt: 1,
  lostWorkers: [],
  reason: 'the worker is gone',
  at: 1030,
  ...rest,
})

/** Ended under the lease with this counter or, without one, by the server itself. */
export const finished = (task: string, counter: number | undefined, rest: Partial<Finished> = {}): Finished => ({
  kind: 'finished',
  task,
  state: 'completed',
  fencing: counter === undefined ? undefined : { epoch: 1, counter },
  result: Buffer.from(`result of ${task}`),
  reason: '',
  at: 1040,
  ...rest,
})
