import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { beforeAll, expect, test } from 'vitest'

beforeAll(() => import('./unit-guard.ts'))

test.each([
  ['spawn', () => spawn('true')],
  ['execFileSync', () => execFileSync('true')],
  ['listen', () => createServer().listen(0)],
  ['new Worker', () => new Worker('', { eval: true })],
])('a unit test that calls %s fails', (name, start) => {
  expect(start).toThrow(`a unit test may not call ${name}`)
})
