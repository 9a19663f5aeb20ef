import { beforeAll, describe, expect, test } from 'vitest'
import { prepareHashing } from '../../../base/hashing/create-hasher.ts'
import { STATUS } from '../../../grpc/status.ts'
import { bytesOf, digestOf } from '../../../storage/blobs.fixture.ts'
import { nameOf, testDoor } from './door.fixture.ts'

const SPLIT = 'ContentAddressableStorage.SplitBlob'
const SPLICE = 'ContentAddressableStorage.SpliceBlob'
const [one, two] = [Buffer.from('one chunk, '), Buffer.from('and another')]
const whole = Buffer.concat([one, two, one])

beforeAll(() => prepareHashing())

describe('SpliceBlob', () => {
  test('chunks are joined to a blob, also when one is used twice', async () => {
    const { put, unary, instance } = testDoor()
    await put(one, two)
    const request = { blobDigest: nameOf(whole), chunkDigests: [one, two, one].map(nameOf) }
    expect(await unary(SPLICE, request)).toEqual({ blobDigest: nameOf(whole) })
    expect(await bytesOf(instance.blobs, digestOf(whole))).toEqual(whole)
  })

  test.each([
    ['a chunk that is not there', [one, Buffer.from('never seen.'), one], STATUS.notFound],
    ['chunks that are too short together', [one, two], STATUS.invalidArgument],
    ['chunks in another order', [two, one, one], STATUS.invalidArgument],
    ['no chunks', [], STATUS.invalidArgument],
  ])('%s is refused, and nothing is stored', async (_, chunks, code) => {
    const { put, unary, instance } = testDoor()
    await put(one, two)
    const spliced = unary(SPLICE, { blobDigest: nameOf(whole), chunkDigests: chunks.map(nameOf) })
    await expect(spliced).rejects.toMatchObject({ code })
    expect(await bytesOf(instance.blobs, digestOf(whole))).toBeUndefined()
  })
})

describe('SplitBlob', () => {
  interface Chunks {
    chunkDigests: { hash: string; sizeBytes: string }[]
    chunkingFunction: string
  }

  test('a small blob is its own only chunk, by FAST_CDC_2020', async () => {
    const { put, unary } = testDoor()
    await put(whole)
    const asked = { blobDigest: nameOf(whole) }
    expect(await unary<Chunks>(SPLIT, asked)).toEqual({
      chunkDigests: [nameOf(whole)],
      chunkingFunction: 'FAST_CDC_2020',
    })
  })

  test('the requested chunking function is used, and FAST_CDC_2020 for an unknown one', async () => {
    const { put, unary } = testDoor()
    await put(whole)
    const used = async (chunkingFunction: number) =>
      (await unary<Chunks>(SPLIT, { blobDigest: nameOf(whole), chunkingFunction })).chunkingFunction
    expect([await used(1), await used(2), await used(99)]).toEqual(['FAST_CDC_2020', 'REP_MAX_CDC', 'FAST_CDC_2020'])
  })

  test('a blob that is not stored is NOT_FOUND', async () => {
    const split = testDoor().unary(SPLIT, { blobDigest: nameOf(whole) })
    await expect(split).rejects.toMatchObject({ code: STATUS.notFound })
  })
})
