import { expect, test } from 'vitest'
import { digestAt } from '../../src/base/digest-list.ts'
import { turns, until } from '../../src/engine/grid.fixture.ts'
import { keepInputs } from '../../src/services/execution/kept-inputs.ts'
import { executionGrid, memoryInstance } from './execution-grid.ts'
import { encoded, nameOf, resultOf } from './messages.ts'

const FILE = Buffer.from('in a directory')
const SUB = encoded('Directory', { files: [{ name: 'f', digest: nameOf(FILE) }] })
const root = (name: string) => ({ directories: [{ name, digest: nameOf(SUB) }] })

/** A grid whose store records the digests of FindMissingBlobs, which refreshes them. */
async function keeping() {
  const instance = memoryInstance()
  const { missing } = instance.blobs
  const touched: string[] = []
  instance.blobs.missing = (list, absent) => {
    for (let i = 0; i < list.count; i++) touched.push(digestAt(list, i).hash)
    return missing(list, absent)
  }
  const grid = await executionGrid({ instance, engine: { scheduler: { noWorkerGraceMs: 1e9 } } })
  await grid.put(FILE, SUB)
  const keeper = keepInputs({ engine: grid.engine, instances: () => instance, clock: grid.clock, everyMs: 60_000 })
  return { grid, touched, keeper }
}

const count = (touched: readonly string[], blob: Uint8Array): number =>
  touched.filter((hash) => hash === nameOf(blob).hash).length

test('the inputs of a queued task are refreshed, down to its files, once per round until it ends', async () => {
  const { grid, touched, keeper } = await keeping()
  const stream = grid.execute(await grid.action({ root: root('a') }))
  await stream.next()
  expect(count(touched, FILE)).toBe(1)
  for (let round = 2; round < 5; round++) {
    await grid.after(61_000)
    await until(() => count(touched, FILE) === round)
  }
  await grid.worker('w1').finish(undefined, { result: resultOf({ exitCode: 1 }) })
  await stream.rest()
  await grid.after(61_000)
  await turns()
  expect(count(touched, FILE)).toBe(4)
  keeper.stop()
  expect(grid.clock.pending()).toBeLessThan(5)
})

test('a round refreshes shared inputs once, and skips those of tasks submitted just before', async () => {
  const { grid, touched } = await keeping()
  for (const name of ['a', 'b', 'c']) {
    const command = { arguments: [name] }
    await grid.execute(await grid.action({ root: root(name), command })).next()
  }
  touched.length = 0
  await grid.after(59_000)
  await grid.execute(await grid.action({ command: { arguments: ['late'] } })).next()
  touched.length = 0
  await grid.after(2000)
  await until(() => count(touched, FILE) === 1)
  await turns(20)
  expect(count(touched, FILE)).toBe(1)
  expect(count(touched, encoded('Command', { arguments: ['c'] }))).toBe(1)
  expect(count(touched, encoded('Command', { arguments: ['late'] }))).toBe(0)
})
