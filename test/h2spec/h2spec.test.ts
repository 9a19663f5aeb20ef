import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { isFlawless, readVerdict } from './verdict.ts'

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ status: unknown; output: string }> {
  const program = join(import.meta.dirname, 'run.ts')
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status, output: stdout + stderr }
}

describeWith('go', 'the gRPC port', () => {
  test('passes h2spec, in plaintext and over TLS', async ({ skip }) => {
    const { status, output } = await run([], process.env)
    const isRequired = (process.env.WINDLASS_REQUIRE ?? '').split(/, */).includes('go')
    // Go is installed, but cannot download the module to build.
    if (status === 2 && !isRequired) skip(output)
    expect(output).toMatch(/plain +\d+ +\d+ +0 +0 {2}ok/)
    expect(output).toMatch(/tls +\d+ +\d+ +0 +0 {2}ok/)
    expect(status).toBe(0)
  })
})

test.each([
  ['146 tests, 146 passed, 0 skipped, 0 failed', true],
  ['146 tests, 145 passed, 0 skipped, 1 failed', false],
  ['146 tests, 145 passed, 1 skipped, 0 failed', false],
  ['12 tests, 12 passed, 0 skipped, 0 failed', false],
  ['', false],
])('an h2spec run that ends with "%s" is flawless: %s', (summary, flawless) => {
  expect(isFlawless(readVerdict('plain', summary))).toBe(flawless)
})

test('npm run h2spec exits with 1 when one test fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-not-h2spec-'))
  try {
    const summary = '146 tests, 145 passed, 0 skipped, 1 failed'
    writeFileSync(join(folder, 'h2spec'), `#!/bin/sh\necho '${summary}'\n`, { mode: 0o755 })
    const { status, output } = await run([folder], process.env)
    expect(output).toMatch(/plain +146 +145 +0 +1 {2}NOT OK/)
    expect(status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('npm run h2spec exits with 2 without Go, and the message names go.dev', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-no-go-'))
  try {
    const { status, output } = await run([folder], { ...process.env, PATH: folder })
    expect(output).toMatch(/nothing was judged.*Go, which is not at hand.*go\.dev/s)
    expect(status).toBe(2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
