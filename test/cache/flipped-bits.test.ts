import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import { type Random, randomFrom, seedOfRun } from '../../src/testing/random-source.ts'
import type { CacheClient } from './cache-client.ts'
import { clientOf, ownFolder, serverIn } from './in-process.ts'

const MiB = 1024 * 1024
const seed = seedOfRun()

/** Blobs in every form on disk: within one block, in several blocks, in a file of their own, as zstd. */
async function filled(folder: string): Promise<Blob[]> {
  const server = await serverIn(folder)
  const client = clientOf(server.grpc, { seed: String(seed) })
  const blobs = [1, 100, 5000, 60_000, 64 * 1024, 200_000, MiB].map((size) => client.blob(size))
  await client.put(...blobs)
  const large = [client.blob(3 * MiB), client.blob(9 * MiB)]
  for (const blob of large) await client.write(blob)
  const packed = [10_000, 5 * MiB].map((size) => client.blobOf(client.random.text(size)))
  for (const { digest, bytes } of packed) {
    await client.bytestream.write(client.names.write(digest, { compressor: 'zstd' }), zstdCompressSync(bytes))
  }
  await server.stop()
  return [...blobs, ...large, ...packed]
}

/** Every file that holds blobs. */
const filesIn = (folder: string): string[] =>
  ['packs', 'solo'].flatMap((name) => {
    const root = join(folder, 'data/cas', name)
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(pack|blob)$/.test(path))
      .map((path) => join(root, path))
  })

function flip(file: string, random: Random, flips: number): void {
  const bytes = readFileSync(file)
  for (let i = 0; i < flips; i++) {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
  }
  writeFileSync(file, bytes)
}

type Reading = (client: CacheClient, blob: Blob) => Promise<Uint8Array | undefined>

/** Reads by BatchReadBlobs where the blob fits, by Read, and by Read as zstd. */
const READINGS: readonly Reading[] = [
  async ({ api, read }, blob) => {
    if (blob.bytes.length > MiB) return read(blob)
    const [answer] = await api.batchRead([blob.digest])
    expect([undefined, STATUS.ok, STATUS.notFound]).toContain(answer?.status?.code)
    return answer?.status?.code === STATUS.notFound ? undefined : answer?.data
  },
  ({ read }, blob) => read(blob),
  async ({ bytestream, names, blobOf }, { digest, bytes }) => {
    const packed = await bytestream.read(names.read(digest, { compressor: 'zstd' }))
    const plain = zstdDecompressSync(packed)
    return blobOf(plain).digest.hash === digest.hash ? bytes : plain
  },
]

/** The bytes, or undefined for NOT_FOUND or DATA_LOSS; any other status fails the test. */
async function readOr(reading: Reading, client: CacheClient, blob: Blob): Promise<Uint8Array | undefined> {
  try {
    return await reading(client, blob)
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    expect([STATUS.notFound, STATUS.dataLoss]).toContain(error.code)
    return undefined
  }
}

describe(`bits that flip on disk (WINDLASS_SEED=${seed})`, () => {
  test.each([1, 3, 200])(
    '%d flipped bits per file: no wrong byte is served, and a new upload repairs each lost blob',
    async (flips) => {
      const random = randomFrom(seed + flips)
      const folder = ownFolder()
      const blobs = await filled(folder)
      for (const file of filesIn(folder)) flip(file, random, flips)
      const client = clientOf((await serverIn(folder)).grpc)
      const lost: Blob[] = []
      for (const blob of blobs) {
        const reading = READINGS[random.below(READINGS.length)] as Reading
        const bytes = await readOr(reading, client, blob)
        if (bytes === undefined) lost.push(blob)
        else expect(Buffer.compare(bytes, blob.bytes), `a blob of ${blob.bytes.length} bytes`).toBe(0)
      }
      expect(await client.missing(blobs)).toEqual(lost)
      if (flips === 200) expect(lost.length).toBeGreaterThan(1)
      for (const blob of lost) await client.write(blob)
      expect(await client.missing(blobs)).toEqual([])
      for (const blob of blobs) expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
    },
  )

  test('a cached result is NOT_FOUND while its output is corrupt, and found after a new upload', async () => {
    const folder = ownFolder()
    const server = await serverIn(folder)
    const first = clientOf(server.grpc, { seed: String(seed) })
    const output = first.blob(9 * MiB)
    await first.write(output)
    const action = first.blob()
    const made = resultFrom({ outputFiles: [{ path: 'out', digest: output.digest }] })
    await first.api.updateResult({ actionDigest: action.digest, actionResult: made })
    await server.stop()
    const solo = filesIn(folder).find((path) => path.endsWith('.blob')) as string
    flip(solo, randomFrom(seed), 500)
    const client = clientOf((await serverIn(folder)).grpc)
    await expect(client.read(output)).rejects.toBeInstanceOf(GrpcError)
    await expect(client.api.getResult(action.digest)).rejects.toMatchObject({ code: STATUS.notFound })
    await client.write(output)
    const [file] = (await client.api.getResult(action.digest)).outputFiles
    expect(file?.digest?.hash).toBe(output.digest.hash)
  })
})
