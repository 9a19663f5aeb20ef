import { expect, test } from 'vitest'
import { createReadiness } from './readiness.ts'

test('ready is what is left when every reason against it is gone', () => {
  const readiness = createReadiness('starting')
  expect(readiness.state()).toEqual({ ready: false, reasons: ['starting'] })
  readiness.hold('no disk')
  readiness.release('starting')
  expect(readiness.state()).toEqual({ ready: false, reasons: ['no disk'] })
  readiness.release('no disk')
  expect(readiness.state()).toEqual({ ready: true, reasons: [] })
})
