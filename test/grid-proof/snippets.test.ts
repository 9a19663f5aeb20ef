/** 200 snippets in the suite; `WINDLASS_SNIPPETS=2000` has as many as it says, half of them at once, in a few minutes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seedOfRun } from '../../src/testing/random-source.ts'
import { runProof } from './run-proof.ts'

const seed = seedOfRun()
const snippets = Number(process.env.WINDLASS_SNIPPETS ?? 200)

test(`of ${snippets} snippets on workers by gRPC, HTTP and WebSocket, one of which is killed, each ends as it must, once (WINDLASS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-proof-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const { failures, summary } = await runProof({ snippets, concurrent: Math.ceil(snippets / 2), seed, folder })
  console.log(summary)
  expect(failures).toEqual([])
}, 1_200_000)
