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
  test('makes a blob of chunks, one of them twice', async () => {
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
  ])('refuses %s, and stores nothing', async (_, chunks, code) => {
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

  test('answers a small blob with itself, and says by what function', async () => {
    const { put, unary } = testDoor()
    await put(whole)
    const asked = { blobDigest: nameOf(whole) }
    expect(await unary<Chunks>(SPLIT, asked)).toEqual({
      chunkDigests: [nameOf(whole)],
      chunkingFunction: 'FAST_CDC_2020',
    })
  })

  test('uses the function that is asked for, and the usual one where it does not know it', async () => {
    const { put, unary } = testDoor()
    await put(whole)
    const used = async (chunkingFunction: number) =>
      (await unary<Chunks>(SPLIT, { blobDigest: nameOf(whole), chunkingFunction })).chunkingFunction
    expect([await used(1), await used(2), await used(99)]).toEqual(['FAST_CDC_2020', 'REP_MAX_CDC', 'FAST_CDC_2020'])
  })

  test('knows no chunks of a blob that is not there', async () => {
    const split = testDoor().unary(SPLIT, { blobDigest: nameOf(whole) })
    await expect(split).rejects.toMatchObject({ code: STATUS.notFound })
  })
})
