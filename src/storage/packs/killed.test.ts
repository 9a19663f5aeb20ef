import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { digestOf, manyOf } from '../blobs.fixture.ts'
import { nodeFiles } from './node-files.ts'
import { openOn } from './pack-store.fixture.ts'

const ROUNDS = process.env.WINDLASS_LONG === '1' ? 50 : 3
const seed = seedOfRun()
const WRITER = join(import.meta.dirname, '../../testing/fixtures/killed-writer.ts')

const blobOf = (number: number): Buffer => randomFrom(number).bytes(number % 97 === 0 ? 200_000 : 20 + (number % 5000))

/** Starts a writer, kills it after a while, and returns the batches that it reported as acknowledged. */
async function writeUntilKilled(folder: string, runSeed: number, afterMs: number): Promise<number[]> {
  const child = spawn(process.execPath, [WRITER, folder, String(runSeed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!said.includes('opened')) setTimeout(() => child.kill('SIGKILL'), afterMs)
    said += text
  })
  await new Promise((resolve) => child.once('close', resolve))
  return said
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== 'opened')
    .map(Number)
}

test(`a process killed while it writes loses no acknowledged blob (WINDLASS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-packs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const random = randomFrom(seed)
  const acknowledged: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    acknowledged.push(...(await writeUntilKilled(folder, seed + round, 50 + random.below(400))))
    const { store } = await openOn(nodeFiles(folder, process.pid))
    for (const number of acknowledged) {
      const blobs = Array.from({ length: 64 }, (_, i) => blobOf(number + i))
      const held = await manyOf(
        store.space(0),
        blobs.map((bytes) => digestOf(bytes)),
      )
      expect(
        held.every((bytes, i) => bytes?.equals(blobs[i] as Buffer)),
        `batch ${number} in round ${round}`,
      ).toBe(true)
    }
    await store.close()
  }
  expect(acknowledged.length).toBeGreaterThan(0)
}, 600_000)
