/** The suite runs 200 snippets; `WINDLASS_SNIPPETS=2000` sets another number, half of them concurrent. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seedOfRun } from '../../src/testing/random-source.ts'
import { runProof } from './run-proof.ts'

const seed = seedOfRun()
const snippets = Number(process.env.WINDLASS_SNIPPETS ?? 200)

test(`${snippets} snippets on three kinds of workers each end once, although one worker is killed (WINDLASS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-proof-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const { failures, summary } = await runProof({ snippets, concurrent: Math.ceil(snippets / 2), seed, folder })
  console.log(summary)
  expect(failures).toEqual([])
}, 1_200_000)
