import { expect, test } from 'vitest'
import type { StepCounts, StepStatus, WorkflowRunStatus } from '../../../services/workflows/driver/workflow-run.ts'
import { RunEvents } from '../../../services/workflows/run-events.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { eventStream } from './event-stream.ts'

const counts: StepCounts = { waiting: 0, running: 0, done: 0, cached: 0, failed: 0 }
const step = (path: string, state: StepStatus['state']): StepStatus => ({
  ...{ path, state, cached: false, operation: undefined, startedAt: undefined, endedAt: undefined, why: undefined },
})

function streamOf(steps: 'all' | 'failed') {
  const clock = manualClock()
  const events = new RunEvents('1')
  const status: WorkflowRunStatus = {
    ...{ id: 'x', instance: '', name: '', labels: {}, createdAt: 0, state: 'running', counts, end: undefined },
  }
  events.add({ kind: 'submission', state: 'running' }, counts)
  const reader = eventStream({
    listen: (wake) => events.listen('1-0', wake),
    status: async () => status,
    ...{ steps, clock, signal: new AbortController().signal },
  }).getReader()
  const put = (path: string, state: StepStatus['state']): void =>
    events.add({ kind: 'step', step: step(path, state) }, counts)
  const next = async (): Promise<readonly string[]> => {
    const text = Buffer.from((await reader.read()).value ?? []).toString()
    return [...text.matchAll(/event: (\S+)\ndata: (.*)/g)].map(([, name, data = '']) => {
      const { path, state } = JSON.parse(data) as { path?: string; state: string }
      return `${name} ${path ?? ''} ${state}`
    })
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { clock, events, put, next, turn }
}

test('events within 20 ms are sent together', async () => {
  const { clock, put, next, turn } = streamOf('all')
  const received = next()
  await turn()
  put('a', 'queued')
  await turn()
  put('a', 'running')
  await turn()
  clock.advance(20)
  expect(await received).toEqual(['step a QUEUED', 'step a RUNNING'])
})

test('the end is sent at once', async () => {
  const { events, put, next, turn } = streamOf('all')
  const received = next()
  await turn()
  put('a', 'success')
  await turn()
  events.close()
  expect(await received).toEqual(['step a SUCCESS'])
  expect(await next()).toEqual(['status  RUNNING'])
  expect(await next()).toEqual([])
})

test('steps=failed sends only failed steps, and heartbeats', async () => {
  const { clock, put, next, turn } = streamOf('failed')
  const received = next()
  for (let at = 0; at < 20; at += 1) {
    await turn()
    put(`s${at}`, 'success')
    await turn()
    clock.advance(1000)
  }
  expect(await received).toEqual([]) // a comment line, so that no proxy closes the connection
  const failed = next()
  await turn()
  put('bad', 'failed')
  await turn()
  clock.advance(20)
  expect(await failed).toEqual(['step bad FAILED'])
})
