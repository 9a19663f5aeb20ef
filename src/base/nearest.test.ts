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

test('a misspelled key leads to the right key', () => {
  expect(nearest('server.adress', KEYS)).toBe('server.address')
  expect(nearest('log.levle', KEYS)).toBe('log.level')
})

test('a key in the wrong table leads to its table', () => {
  expect(nearest('address', KEYS)).toBe('server.address')
  expect(nearest('worker.work_dir', KEYS)).toBe('worker.host.work_dir')
})

test('of several tables with the key, the one with the most similar name is chosen', () => {
  expect(nearest('workr.backend', KEYS)).toBe('worker.backend')
})

test('no key is suggested when none is similar', () => {
  expect(nearest('telemetry.endpoint', KEYS)).toBeUndefined()
})

test('a difference in case only is the best match', () => {
  expect(nearest('STDIN', ['files', 'stdin', 'stdinEncoding'])).toBe('stdin')
})

test('a text of more than 200 characters gets no suggestion', () => {
  const long = 'a'.repeat(201)
  expect(nearest(long, [long])).toBeUndefined()
})
