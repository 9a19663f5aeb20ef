import { expect, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import type { WorkerStatus } from '../process/worker-status.ts'
import { createReadiness } from './readiness.ts'
import { PATIENCE_MS, workerGate } from './worker-gate.ts'

const registered = (said: Partial<Extract<WorkerStatus, { kind: 'registered' }>> = {}): WorkerStatus => ({
  ...{ kind: 'registered', worker: 'w', languages: [], testing: [], failed: {} },
  ...said,
})

function gated() {
  const clock = manualClock()
  const readiness = createReadiness()
  const gate = workerGate(readiness, clock)
  let isOpen = false
  void gate.opened.then(() => {
    isOpen = true
  })
  const opened = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve))
    return isOpen
  }
  return { clock, readiness, gate, opened }
}

test('the server is ready when the worker has registered and no self-test is left', async () => {
  const { gate, readiness, opened } = gated()
  expect(readiness.state().reasons).toEqual(['the worker is starting'])
  expect(gate.isComing()).toBe(true)
  gate.heard(registered({ languages: ['bash'], testing: ['python', 'c'] }))
  expect(readiness.state().reasons).toEqual(['the worker is testing its languages: python, c'])
  expect([gate.isComing(), await opened()]).toEqual([false, false])
  gate.heard(registered({ languages: ['bash', 'python', 'c'] }))
  expect(readiness.state()).toEqual({ ready: true, reasons: [], warnings: [] })
  expect(await opened()).toBe(true)
})

test('after 20 s the server is ready with the tested languages, and warns of the missing ones', async () => {
  const { gate, readiness, clock, opened } = gated()
  gate.heard(registered({ testing: ['rust'] }))
  clock.advance(PATIENCE_MS)
  expect(readiness.state()).toMatchObject({
    ready: true,
    warnings: ['languages not available yet, still under test: rust'],
  })
  expect(await opened()).toBe(true)
  gate.heard(registered({ failed: { rust: 'exit code 1' } }))
  expect(readiness.state().warnings).toEqual(['languages that fail their self-test: rust (exit code 1)'])
})

test('without a registered worker after 20 s the server is not ready', async () => {
  const { gate, readiness, clock, opened } = gated()
  clock.advance(PATIENCE_MS)
  expect(readiness.state().reasons).toEqual(['the worker has not registered within 20 s'])
  gate.heard(registered({ testing: ['rust'] }))
  expect([readiness.state().ready, await opened()]).toEqual([true, true])
})

test('a worker that cannot reach its server keeps the server not ready, with the cause', () => {
  const { gate, readiness } = gated()
  gate.heard({ kind: 'waiting', what: 'the server requires\n a client certificate' })
  expect(readiness.state().reasons).toEqual([
    'the worker waits for its server: the server requires a client certificate',
  ])
  expect(gate.isComing()).toBe(true)
  gate.heard(registered())
  expect(readiness.state()).toMatchObject({ ready: true, reasons: [] })
})

test('a worker that failed keeps the server not ready, with the cause', () => {
  const { gate, readiness } = gated()
  gate.heard({ kind: 'failed', what: 'the disk is full', isLasting: false })
  gate.ended('exit code 1', 4000)
  expect(readiness.state().reasons).toEqual([
    'there is no worker: the disk is full; the worker is started again in 4 s',
  ])
  gate.ended('SIGKILL', 8000)
  expect(readiness.state().reasons).toEqual(['there is no worker: SIGKILL; the worker is started again in 8 s'])
  gate.heard({ kind: 'failed', what: 'no user namespaces', isLasting: true })
  gate.ended('exit code 2', undefined)
  expect(readiness.state().reasons).toEqual(['there is no worker: no user namespaces'])
})
