import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seedOfRun } from '../../src/testing/random-source.ts'
import { runFaults } from './run-faults.ts'

const seed = seedOfRun()

test(`no task is lost, applied twice or stuck when processes are killed (WINDLASS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-faults-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const { failures, summary } = await runFaults({ kills: 10, tasks: 200, seed, folder, say() {} })
  console.log(summary)
  expect(failures).toEqual([])
}, 300_000)
