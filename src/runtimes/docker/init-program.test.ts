import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { requireTool } from '../../testing/require.ts'
import { isStatic, placeInit } from './init-program.ts'
import { pauseProgram } from './pause-program.ts'

test('an executable that needs a loader is not static', () => {
  expect(isStatic(Buffer.from(pauseProgram('x64') as Uint8Array))).toBe(true)
  expect(isStatic(readFileSync('/bin/sh'))).toBe(false)
  expect(isStatic(Buffer.alloc(64))).toBe(false)
})

const init = requireTool('docker-init')
const options = init.present ? {} : { skip: true, meta: { skipReason: init.reason } }

test('the init program for containers has mode 0111 and is placed again at each start', options, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const engine of ['docker', 'podman'] as const) {
    const path = (await placeInit(folder, engine)) as string
    expect(statSync(path).mode & 0o777).toBe(0o111)
  }
})
