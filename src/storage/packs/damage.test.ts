import { describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { type Random, randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { bytesOf, digestOf, holds, manyOf, putOne } from '../blobs.fixture.ts'
import { type ForgetfulFiles, forgetfulFiles } from './forgetful-files.fixture.ts'
import { openOn, turns } from './pack-store.fixture.ts'

const seed = seedOfRun()
const VALUE = Buffer.alloc(32, 5)

async function filled(
  random: Random,
): Promise<{ files: ForgetfulFiles; blobs: Map<string, Buffer>; digests: Digest[] }> {
  const files = forgetfulFiles()
  const { store } = await openOn(files)
  const blobs = new Map<string, Buffer>()
  const digests: Digest[] = []
  for (let i = 0; i < 60; i++) {
    const bytes = random.bytes(random.below(i % 10 === 0 ? 200_000 : 4000))
    const digest = await putOne(store.space(0), bytes)
    blobs.set(digest.hash, bytes)
    digests.push(digest)
  }
  await store.values().put(VALUE, Buffer.from('old'))
  await store.values().put(VALUE, Buffer.from('new'))
  await store.close()
  return { files: files.afterKill(), blobs, digests }
}

/** The number of lost blobs; also checks that no wrong bytes are served. */
async function lostIn(files: ForgetfulFiles, blobs: ReadonlyMap<string, Buffer>, digests: Digest[]): Promise<number> {
  const { store } = await openOn(files)
  let lost = 0
  for (const [i, digest] of digests.entries()) {
    const held =
      i % 2 === 0
        ? await bytesOf(store.space(0), digest).catch(() => undefined)
        : (await manyOf(store.space(0), [digest]))[0]
    if (held === undefined) {
      lost++
      expect(await holds(store.space(0), digest), 'what is bad is absent from then on').toBe(false)
      await putOne(store.space(0), blobs.get(digest.hash) as Buffer)
    } else expect(held.equals(blobs.get(digest.hash) as Buffer), 'wrong bytes are never served').toBe(true)
  }
  expect([undefined, 'old', 'new']).toContain((await store.values().get(VALUE))?.toString())
  for (const digest of digests) expect(await bytesOf(store.space(0), digest)).toEqual(blobs.get(digest.hash))
  await store.close()
  return lost
}

const flip = (files: ForgetfulFiles, path: string, random: Random): void => {
  const bytes = files.bytesOf(path)
  if (bytes === undefined || bytes.length === 0) return
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
}

describe(`flipped bits (WINDLASS_SEED=${seed})`, () => {
  test('in a pack lose at most the blob that they hit', async () => {
    const random = randomFrom(seed)
    for (let round = 0; round < 12; round++) {
      const { files, blobs, digests } = await filled(random)
      const packs = files.paths().filter((path) => /^(packs|solo)\//.test(path))
      flip(files, packs[random.below(packs.length)] as string, random)
      expect(await lostIn(files, blobs, digests)).toBeLessThanOrEqual(1)
    }
  })

  test('in the index journal lose no blob, because the index is rebuilt from the packs', async () => {
    const random = randomFrom(seed + 1)
    for (let round = 0; round < 8; round++) {
      const { files, blobs, digests } = await filled(random)
      flip(files, 'index/journal', random)
      expect(await lostIn(files, blobs, digests)).toBe(0)
    }
  })

  test('in every file never serve wrong bytes, and lost blobs can be uploaded again', async () => {
    const random = randomFrom(seed + 2)
    for (let round = 0; round < 5; round++) {
      const { files, blobs, digests } = await filled(random)
      for (const path of files.paths()) for (let i = 0; i < 3; i++) flip(files, path, random)
      await lostIn(files, blobs, digests)
    }
  })
})

test('a blob damaged while it is read fails with data-loss and is absent afterwards', async () => {
  const files = forgetfulFiles()
  const { store, heard } = await openOn(files, { soloBytes: 10_000_000, packBytes: 64_000_000 })
  const bytes = randomFrom(1).bytes(3_000_000)
  const digest = await putOne(store.space(0), bytes)
  const reader = await store.space(0).read(digest, { offset: 0 })
  const read = async () => {
    for await (const _ of reader?.pieces ?? []) {
      const pack = files.bytesOf('packs/00000001.pack') as Buffer
      pack[2_500_000] = (pack[2_500_000] as number) ^ 1
    }
  }
  await expect(read()).rejects.toMatchObject({ fault: { kind: 'bug', why: 'data-loss' } })
  expect(await holds(store.space(0), digest)).toBe(false)
  expect(heard).toEqual(['lost 1'])
})

test('verifyReads "always" checks every read, and "first" only the first', async () => {
  for (const [verifyReads, isServed] of [
    ['always', false],
    ['first', true],
  ] as const) {
    const files = forgetfulFiles()
    const { store } = await openOn(files, { verifyReads })
    const digest = await putOne(store.space(0), Buffer.alloc(1000, 1))
    expect(await bytesOf(store.space(0), digest)).toHaveLength(1000)
    const pack = files.bytesOf('packs/00000001.pack') as Buffer
    pack[500] = 9
    expect((await bytesOf(store.space(0), digest)) !== undefined).toBe(isServed)
  }
})

test('the scrub finds damaged blobs before they are read', async () => {
  const files = forgetfulFiles()
  const { store, clock, heard } = await openOn(files, { scrubBytesPerSecond: 1_000_000 })
  const random = randomFrom(3)
  const small = await putOne(store.space(0), random.bytes(3000))
  const other = await putOne(store.space(0), random.bytes(3000))
  const large = await putOne(store.space(0), random.bytes(100_000))
  const pack = files.bytesOf('packs/00000001.pack') as Buffer
  pack[1000] = (pack[1000] as number) ^ 1
  const solo = files.bytesOf(files.paths().find((path) => path.startsWith('solo/')) as string) as Buffer
  solo[70_000] = (solo[70_000] as number) ^ 1
  for (let i = 0; i < 200 && !heard.includes('scrubbed'); i++) {
    clock.advance(1000)
    await turns(5)
  }
  expect(heard).toEqual(['lost 1', 'lost 1', 'scrubbed'])
  expect(await holds(store.space(0), small)).toBe(false)
  expect(await holds(store.space(0), large)).toBe(false)
  expect(await bytesOf(store.space(0), other)).toHaveLength(3000)
  expect(digestOf(Buffer.alloc(0)).size).toBe(0)
  await store.close()
})
