import { expect, test } from 'vitest'
import { manualClock } from '../testing/manual-clock.ts'
import { bytesOf, digestOf, manyOf, missingOf, put, upload } from './blobs.fixture.ts'
import { blobStoreContract } from './contract.ts'
import { memoryStore } from './memory-store.ts'
import { metered, type StoreMeter } from './metered.ts'

const unheard: StoreMeter = { hits() {}, misses() {}, readBytes() {}, writtenBytes() {}, took() {} }

blobStoreContract('metered memory', () => metered(unheard, manualClock())(memoryStore()))

test('metered counts hits, misses, bytes and milliseconds per operation', async () => {
  const said: string[] = []
  const meter: StoreMeter = {
    hits: (verb, blobs) => void said.push(`${verb}: ${blobs} hits`),
    misses: (verb, blobs) => void said.push(`${verb}: ${blobs} misses`),
    readBytes: (bytes) => void said.push(`${bytes} bytes read`),
    writtenBytes: (bytes) => void said.push(`${bytes} bytes written`),
    took: (verb, ms) => void said.push(`${verb} took ${ms} ms`),
  }
  const clock = manualClock()
  const store = metered(meter, clock)(memoryStore())
  const heard = () => said.splice(0)
  const digests = await put(store, Buffer.from('one'), Buffer.from('three'))
  expect(heard()).toEqual(['writeMany took 0 ms', '8 bytes written'])
  const never = digestOf(Buffer.from('never'))
  await missingOf(store, [...digests, never])
  expect(heard()).toEqual(['missing took 0 ms', 'missing: 1 misses', 'missing: 2 hits'])
  await store.find(never.fn, never.hash)
  for (const { fn, hash } of digests.slice(1)) await store.find(fn, hash)
  expect(heard()).toEqual(['missing took 0 ms', 'missing: 1 misses', 'missing took 0 ms', 'missing: 1 hits'])
  await manyOf(store, [...digests, never])
  expect(heard()).toEqual(['readMany took 0 ms', 'readMany: 2 hits', 'readMany: 1 misses', '8 bytes read'])
  await bytesOf(store, never)
  expect(heard()).toEqual(['read: 1 misses'])
  for (const digest of digests.slice(1)) await bytesOf(store, digest)
  expect(heard()).toEqual(['read: 1 hits', '5 bytes read', 'read took 0 ms'])
  const writer = store.write(never, 'identity')
  await writer.write(Buffer.from('never'))
  clock.advance(7)
  await writer.commit()
  expect(heard()).toEqual(['5 bytes written', 'write took 7 ms'])
  await upload(store, { digest: never, bytes: Buffer.from('never') })
})
