import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { requireTool } from './require.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** A separate test run, because the result of a whole run is tested. */
function run(fixture: string, required: string): { text: string; status: number | null; lastLine: string | undefined } {
  const vitest = resolve(ROOT, 'node_modules/vitest/vitest.mjs')
  const options = ['run', '--config', 'src/testing/fixtures/vitest.config.ts', fixture]
  const { WINDLASS_TEST_COUNTS: _ours, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, ...options], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...env, WINDLASS_REQUIRE: required, NO_COLOR: '1' },
  })
  return { text: stdout + stderr, status, lastLine: stdout.trim().split('\n').at(-1) }
}

test('requireTool finds a tool on the PATH, and reports another as absent', () => {
  expect(requireTool('node')).toMatchObject({ present: true, command: expect.stringMatching(/\/node$/) })
  expect(requireTool('no-such-tool')).toMatchObject({ present: false, reason: 'no-such-tool is not on this machine' })
})

test('tests that need an absent tool are skipped, with the reason', () => {
  const { text, status, lastLine } = run('tools', 'node,h2load')
  expect(text).toContain('skipped: no-such-tool is not on this machine')
  expect(text).toContain('a suite > in it')
  expect(text).toContain('skipped: it is not the day for it')
  expect(lastLine).toBe('1 passed, 0 failed, 3 skipped')
  expect(status).toBe(0)
})

test('an absent tool that is required fails the run', () => {
  const { text, status, lastLine } = run('tools', 'node, no-such-tool')
  expect(text).toContain('no-such-tool is not on this machine, but WINDLASS_REQUIRE names it')
  expect(lastLine).toBe('1 passed, 2 failed, 1 skipped')
  expect(status).toBe(1)
})

test('a test file that cannot be loaded counts as a failure', () => {
  const { status, lastLine } = run('broken', '')
  expect(lastLine).toBe('0 passed, 1 failed, 0 skipped')
  expect(status).toBe(1)
})

test('a suite whose beforeAll fails counts as a failure, and its tests are skipped with the reason', () => {
  const { text, status, lastLine } = run('unprepared', '')
  expect(text).toContain('skipped: what should have prepared it failed')
  expect(lastLine).toBe('0 passed, 1 failed, 1 skipped')
  expect(status).toBe(1)
})
