import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { clientOf, ownFolder, serverIn } from './in-process.ts'

const MiB = 1024 * 1024
const READERS = 16

test('16 concurrent zstd reads of 1 MiB, more than the budget of one connection, all succeed', async () => {
  const server = await serverIn(ownFolder())
  const client = clientOf(server.grpc, { seed: 'zstd readers' })
  const blobs = Array.from({ length: READERS }, () => client.blobOf(client.random.text(MiB)))
  for (const blob of blobs) await client.write(blob)
  const read = await Promise.all(
    blobs.map(({ digest }) => client.bytestream.read(client.names.read(digest, { compressor: 'zstd' }))),
  )
  for (const [n, bytes] of read.entries())
    expect(zstdDecompressSync(bytes).equals(blobs[n]?.bytes as Uint8Array)).toBe(true)
  await server.stop()
})
