import { zstdCompressSync } from 'node:zlib'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import type { Random } from '../../src/testing/random-source.ts'
import type { CacheClient } from './cache-client.ts'
import type { Ledger, Way } from './ledger.ts'

const MiB = 1024 * 1024
const ACTIONS = 5

export interface Writing {
  readonly firstAcknowledged: Promise<void>
  /** Every lane has had a response, the lane of large blobs too. */
  readonly allAcknowledged: Promise<void>
  /** Allows calls to fail from now on: the test is about to kill the server. */
  expectEnd(): void
  /** Resolves when all calls have ended; rejects when a call failed before it was expected to. */
  readonly ended: Promise<void>
}

/** Uploads in every way concurrently, sequentially within a lane, until calls fail. */
export function writeHeavily(client: CacheClient, ledger: Ledger, random: Random): Writing {
  const tools: Tools = { client, ledger, random }
  let isEnding = false
  const lanes = [
    batches,
    batches,
    streams('small'),
    streams('large'),
    zstd('small zstd'),
    zstd('large zstd'),
    results(),
  ]
  const running = lanes.map((step) => {
    const first = Promise.withResolvers<void>()
    const run = async (): Promise<void> => {
      try {
        while (!isEnding) {
          await step(tools)
          first.resolve()
        }
      } catch (error) {
        first.resolve()
        if (!isEnding) throw error
      }
    }
    return { first: first.promise, ended: run() }
  })
  const firsts = running.map(({ first }) => first)
  const ended = Promise.all(running.map((lane) => lane.ended)).then(() => {})
  ended.catch(() => {})
  return {
    firstAcknowledged: Promise.race(firsts),
    allAcknowledged: Promise.all(firsts).then(() => {}),
    ended,
    expectEnd: () => {
      isEnding = true
    },
  }
}

interface Tools {
  readonly client: CacheClient
  readonly ledger: Ledger
  readonly random: Random
}

async function batches({ client, ledger, random }: Tools): Promise<void> {
  const blobs = Array.from({ length: 1 + random.below(30) }, () =>
    client.blob(1 + random.below(random.chance(0.1) ? 150_000 : 4000)),
  )
  const acknowledge = blobs.map((blob) => ledger.sending('batch', blob))
  await client.put(...blobs)
  for (const each of acknowledge) each()
}

const sizeFor = (way: Way, random: Random): number =>
  way.startsWith('large') ? 8 * MiB + 1 + random.below(2 * MiB) : 1 + random.below(300_000)

const streams =
  (way: 'small' | 'large') =>
  async ({ client, ledger, random }: Tools): Promise<void> => {
    const blob = client.blob(sizeFor(way, random))
    const acknowledge = ledger.sending(way, blob)
    await client.write(blob)
    acknowledge()
  }

const zstd =
  (way: 'small zstd' | 'large zstd') =>
  async ({ client, ledger, random }: Tools): Promise<void> => {
    const { bytes, digest } = halfRandom(client, sizeFor(way, random))
    const acknowledge = ledger.sending(way, { bytes, digest })
    await client.bytestream.write(client.names.write(digest, { compressor: 'zstd' }), zstdCompressSync(bytes))
    acknowledge()
  }

/** Compresses to half its size, so that a large blob is large on disk as well. */
function halfRandom(client: CacheClient, size: number): Blob {
  const bytes = Buffer.alloc(size)
  bytes.set(client.random.bytes(Math.ceil(size / 2)))
  return client.blobOf(bytes)
}

/** Stores one result after another for a few actions. */
function results(): (tools: Tools) => Promise<void> {
  let count = 0
  return async ({ client, ledger, random }) => {
    const { digest } = client.blobOf(Buffer.from(`action ${count % ACTIONS}`))
    const stdout = `${count++}: ${'x'.repeat(random.below(100_000))} ${client.random.word()}`
    const acknowledge = ledger.updating(digest, stdout)
    const parts = { stdoutRaw: Buffer.from(stdout), exitCode: 0 }
    await client.api.updateResult({ actionDigest: digest, actionResult: resultFrom(parts) })
    acknowledge()
  }
}
