import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ status: unknown; output: string }> {
  const program = join(import.meta.dirname, 'run.ts')
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status, output: stdout + stderr }
}

describeWith('go', 'our HTTP/2 layer', () => {
  test('h2spec finds no fault, in the clear and over TLS', { timeout: 240_000 }, async ({ skip }) => {
    const { status, output } = await run([], process.env)
    const isRequired = (process.env.WINDLASS_REQUIRE ?? '').split(/, */).includes('go')
    // Go is there, but what it would build is out of its reach.
    if (status === 2 && !isRequired) skip(output)
    expect(output).toMatch(/plain +\d+ +\d+ +0 +0 {2}ok/)
    expect(output).toMatch(/tls +\d+ +\d+ +0 +0 {2}ok/)
    expect(status).toBe(0)
  })
})

/** What run.ts makes of a program that says this, where h2spec would be. */
async function runWith(summary: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-not-h2spec-'))
  try {
    writeFileSync(join(folder, 'h2spec'), `#!/bin/sh\necho '${summary}'\n`, { mode: 0o755 })
    return (await run([folder], process.env)).status
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('only a whole run without a flaw counts as passed', async () => {
  expect(await runWith('146 tests, 146 passed, 0 skipped, 0 failed')).toBe(0)
  expect(await runWith('146 tests, 145 passed, 0 skipped, 1 failed')).toBe(1)
  expect(await runWith('146 tests, 145 passed, 1 skipped, 0 failed')).toBe(1)
  expect(await runWith('12 tests, 12 passed, 0 skipped, 0 failed')).toBe(1)
  expect(await runWith('a crash')).toBe(1)
})

test('without Go nothing counts as passed, and the way out is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-no-go-'))
  try {
    const { status, output } = await run([folder], { ...process.env, PATH: folder })
    expect(output).toMatch(/nothing was judged.*Go, which is not at hand.*go\.dev/s)
    expect(status).toBe(2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
