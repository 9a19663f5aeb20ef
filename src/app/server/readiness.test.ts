import { expect, test } from 'vitest'
import { createReadiness } from './readiness.ts'

test('the server is ready when no cause is held', () => {
  const readiness = createReadiness('starting')
  expect(readiness.state()).toEqual({ ready: false, reasons: ['starting'], warnings: [] })
  readiness.hold('disk', 'the disk of the journal is full')
  readiness.release('starting')
  expect(readiness.state()).toEqual({ ready: false, reasons: ['the disk of the journal is full'], warnings: [] })
  readiness.release('disk')
  expect(readiness.state()).toEqual({ ready: true, reasons: [], warnings: [] })
})

test('a cause that is held again has its new detail', () => {
  const readiness = createReadiness()
  readiness.hold('worker', 'the worker is starting')
  readiness.hold('worker', 'the worker is testing python')
  expect(readiness.state().reasons).toEqual(['the worker is testing python'])
})

test('a warning is reported, and the server is ready', () => {
  const readiness = createReadiness()
  readiness.hold('worker', 'the worker is testing rust')
  readiness.warn('worker', 'not available yet: rust')
  expect(readiness.state()).toEqual({ ready: true, reasons: [], warnings: ['not available yet: rust'] })
  readiness.release('worker')
  expect(readiness.state().warnings).toEqual([])
})

test('listeners are called once for each change between ready and not ready', () => {
  const readiness = createReadiness('starting')
  const heard: boolean[] = []
  readiness.onChange((ready) => heard.push(ready))
  readiness.hold('disk')
  readiness.release('starting')
  readiness.release('disk')
  readiness.release('disk')
  readiness.hold('disk')
  expect(heard).toEqual([true, false])
})
