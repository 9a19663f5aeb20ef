import { deflateRawSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import type { Digest } from '../../src/base/digest.ts'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { refusal } from './cache-client.ts'
import { clientOf } from './in-process.ts'
import { packsServer } from './packs-server.ts'

// Each test uploads tens of megabytes many times.
vi.setConfig({ testTimeout: 120_000 })

const MiB = 1024 * 1024
const FULL = {
  code: STATUS.resourceExhausted,
  message: 'storage for blobs is exhausted; retry in 10000 ms',
  details: [{ kind: 'RetryInfo', retryDelayMs: 10_000 }],
}

const nameOf = ({ digest: { hash, sizeBytes } }: Blob): Digest => ({ fn: 'sha256', hash, size: sizeBytes })

/** Pins and uploads blobs until the store is full; returns the accepted ones. */
async function pinnedUntilFull({ grpc, packs }: Awaited<ReturnType<typeof packsServer>>): Promise<Blob[]> {
  const client = clientOf(grpc)
  const held: Blob[] = []
  for (const size of [5 * MiB, 300_000, 20_000]) {
    for (let isFull = false; !isFull; ) {
      const blob = client.blob(size)
      packs.pin(nameOf(blob))
      const sent = client.write(blob)
      await sent.then(
        () => held.push(blob),
        () => {
          isFull = true
        },
      )
      if (!isFull) continue
      expect(await refusal(sent)).toEqual(FULL)
      packs.unpin(nameOf(blob))
    }
  }
  return held
}

test('a store full of pinned blobs refuses uploads with RESOURCE_EXHAUSTED and still serves reads', async () => {
  const server = await packsServer({ maxBytes: 64 * MiB })
  const client = clientOf(server.grpc)
  const action = client.blob()
  const update = (parts: Parameters<typeof resultFrom>[0]) =>
    client.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom(parts) })
  const held = await pinnedUntilFull(server)
  const [output] = held
  expect(held.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeGreaterThan(40 * MiB)

  const more = client.blob(2 * MiB)
  expect(await refusal(client.put(more))).toEqual(FULL)
  expect(await refusal(client.write(more))).toEqual(FULL)
  const large = client.blob(9 * MiB)
  expect(await refusal(client.write(large))).toEqual(FULL)
  const packed = client.names.write(more.digest, { compressor: 'deflate' })
  expect(await refusal(client.bytestream.write(packed, deflateRawSync(more.bytes)))).toEqual(FULL)

  expect(await client.missing([...held, more, large])).toEqual([more, large])
  for (const blob of held) expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
  // A small result either fits into the space that compaction keeps free or is refused with the same status.
  const outcome = await update({ outputFiles: [{ path: 'out', digest: output?.digest }] }).then(
    () => 'stored',
    async (error: unknown) => refusal(Promise.reject(error)),
  )
  expect(['stored', FULL]).toContainEqual(outcome)
  if (outcome === 'stored') expect((await client.api.getResult(action.digest)).outputFiles).toHaveLength(1)

  // An upload of a stored blob succeeds even when the store is full.
  for (const blob of held.slice(0, 3)) expect(await client.write(blob)).toBe(blob.bytes.length)
})

test('after blobs are unpinned, uploads succeed again, and the blobs that are still pinned stay', async () => {
  const server = await packsServer({ maxBytes: 64 * MiB })
  const client = clientOf(server.grpc)
  const held = await pinnedUntilFull(server)
  const more = [client.blob(2 * MiB), client.blob(9 * MiB), client.blob(1000)]
  expect(await refusal(client.write(more[1] as Blob))).toEqual(FULL)
  const kept = held.filter((_, index) => index % 3 === 0)
  for (const blob of held) if (!kept.includes(blob)) server.packs.unpin(nameOf(blob))
  for (const blob of more) await client.write(blob)
  for (const blob of [...kept, ...more]) expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
  expect((await client.missing(held)).length).toBeGreaterThan(0)
  expect(await client.missing(kept)).toEqual([])
})
