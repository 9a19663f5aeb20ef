import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { unitRule, unitTests } from './unit-tests.ts'

const isUnit = (files: Record<string, string>): boolean => unitRule((path) => files[path] ?? '')('src/a.test.ts')

describe('a unit test', () => {
  test('loads only modules that start nothing', () => {
    expect(isUnit({ 'src/a.test.ts': `import { b } from './b.ts'`, 'src/b.ts': `import 'node:fs'` })).toBe(true)
  })

  test('may import types of a module that starts something', () => {
    const files = {
      'src/a.test.ts': `import type { B } from './b.ts'\nimport type { Socket, Server } from 'node:net'`,
      'src/b.ts': `import 'node:child_process'`,
    }
    expect(isUnit(files)).toBe(true)
  })
})

describe('a test that is not a unit test', () => {
  test.each([
    `import { spawn } from 'node:child_process'`,
    `import { Worker } from 'node:worker_threads'`,
    `import { connect, createServer } from 'node:net'`,
    `import {\n  createServer,\n} from 'node:http'`,
    `import net, { type AddressInfo } from 'node:net'`,
    `import * as http from 'node:http'`,
    `import { WebSocketServer } from 'ws'`,
    `const net = await import('node:child_process')`,
  ])('contains %s', (text) => {
    expect(isUnit({ 'src/a.test.ts': text })).toBe(false)
  })

  test.each([
    `import { b } from './b.ts'`,
    `import {\n  b,\n} from './b.ts'`,
    `import './b.ts'`,
    `export { b } from './b.ts'`,
    `const { b } = await import('./b.ts')`,
    `start(new URL('./b.ts', import.meta.url))`,
  ])('imports a module that starts something by %s', (text) => {
    const files = { 'src/a.test.ts': text, 'src/b.ts': `import './c/c.ts'`, 'src/c/c.ts': `import 'node:cluster'` }
    expect(isUnit(files)).toBe(false)
  })
})

test('the rule finds more than 200 unit tests under src, and none that runs a server', () => {
  const found = unitTests(resolve(import.meta.dirname, '../../..'))
  expect(found.length).toBeGreaterThan(200)
  expect(found.filter((path) => path.startsWith('src/scheduler/')).length).toBeGreaterThan(10)
  expect(found).not.toContain('src/cli/launcher.test.ts')
})
