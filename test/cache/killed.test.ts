import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../src/testing/random-source.ts'
import { cacheClient } from './cache-client.ts'
import { Ledger } from './ledger.ts'
import { startProcess } from './server-process.ts'
import { writeHeavily } from './write-heavily.ts'

/** The long run kills 50 times, which takes minutes. */
const ROUNDS = process.env.WINDLASS_LONG === '1' ? 50 : 8
const seed = seedOfRun()

test(`a server that is killed while it writes loses no acknowledged write (WINDLASS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-killed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const random = randomFrom(seed)
  const ledger = new Ledger()
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startProcess(folder)
    const client = cacheClient(server.grpc, { seed: `${seed}/${round}` })
    try {
      await ledger.check(client, `after kill ${round}`)
      const writing = writeHeavily(client, ledger, random)
      await (round % 2 === 0 ? writing.firstAcknowledged : writing.allAcknowledged)
      await sleep(random.below(300))
      writing.expectEnd()
      await server.kill()
      await writing.ended
    } finally {
      client.close()
      await server.kill()
    }
  }
  const server = await startProcess(folder)
  const client = cacheClient(server.grpc)
  try {
    await ledger.check(client, 'in the end', 'everything')
  } finally {
    client.close()
    await server.stop()
  }
  console.log(`${ROUNDS} kills: ${ledger.summary()}`)
  expect(ledger.kinds()).toEqual(['batch', 'large', 'large zstd', 'result', 'small', 'small zstd'])
}, 900_000)
