import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { turns } from '../../src/engine/grid.fixture.ts'
import { keepInputs } from '../../src/services/execution/kept-inputs.ts'
import { alwaysHoldingEmptyBlob } from '../../src/storage/always-holding-empty-blob.ts'
import { digestOf, put } from '../../src/storage/blobs.fixture.ts'
import { nodeFiles } from '../../src/storage/packs/node-files.ts'
import { unheardEvents } from '../../src/storage/packs/pack-events.ts'
import { packStore } from '../../src/storage/packs/pack-store.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { executionGrid, memoryInstance } from './execution-grid.ts'
import { encoded, nameOf } from './messages.ts'

const MIB = 1024 * 1024

/** A store of 64 MiB on disk, with a clock that the test can advance. */
async function smallStore() {
  let ahead = 0
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
  }
  const files = nodeFiles(ownFolder(), process.pid)
  const packs = await packStore({ files, clock, events: unheardEvents, durability: 'process', maxBytes: 64 * MIB })
  onTestFinished(() => packs.close())
  return {
    blobs: alwaysHoldingEmptyBlob(packs.space(0)),
    pass(ms: number) {
      ahead += ms
    },
  }
}

test('the inputs of a queued action stay stored while 192 MiB are uploaded into a store of 64 MiB', async () => {
  const { blobs, pass } = await smallStore()
  const instance = { ...memoryInstance(), blobs, uploads: blobs }
  const grid = await executionGrid({ instance, engine: { scheduler: { noWorkerGraceMs: 1e9 } } })
  keepInputs({ engine: grid.engine, instances: () => instance, clock: grid.clock })
  const [input, forgotten] = [randomBytes(300_000), randomBytes(300_000)]
  const sub = encoded('Directory', { files: [{ name: 'f', digest: nameOf(input) }] })
  await grid.put(input, sub, forgotten)
  const stream = grid.execute(await grid.action({ root: { directories: [{ name: 'sub', digest: nameOf(sub) }] } }))
  await stream.next()
  for (let minute = 0; minute < 12; minute++) {
    pass(61_000)
    await grid.after(61_000)
    await turns(20)
    for (let i = 0; i < 16; i++) await put(blobs, randomBytes(MIB))
  }
  const isThere = async (bytes: Uint8Array): Promise<boolean> =>
    (await blobs.read(digestOf(bytes), { offset: 0 }, new AbortController().signal)) !== undefined
  expect([await isThere(forgotten), await isThere(sub), await isThere(input)]).toEqual([false, true, true])
})
