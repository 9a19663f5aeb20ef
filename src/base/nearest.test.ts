import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const KEYS = [
  'server.address',
  'server.http_address',
  'log.level',
  'worker.host.work_dir',
  'storage.cas.backend',
  'worker.backend',
]

test('a slip of the finger leads to the key that was meant', () => {
  expect(nearest('server.adress', KEYS)).toBe('server.address')
  expect(nearest('log.levle', KEYS)).toBe('log.level')
})

test('the right name in the wrong table leads to its table', () => {
  expect(nearest('address', KEYS)).toBe('server.address')
  expect(nearest('worker.work_dir', KEYS)).toBe('worker.host.work_dir')
})

test('of several tables that have the name, the one that is written most alike is meant', () => {
  expect(nearest('workr.backend', KEYS)).toBe('worker.backend')
})

test('nothing is guessed when nothing is close', () => {
  expect(nearest('telemetry.endpoint', KEYS)).toBeUndefined()
})

test('case is the smallest of slips', () => {
  expect(nearest('STDIN', ['files', 'stdin', 'stdinEncoding'])).toBe('stdin')
})

test('what is too long to be a slip costs no search', () => {
  const long = 'a'.repeat(201)
  expect(nearest(long, [long])).toBeUndefined()
})
