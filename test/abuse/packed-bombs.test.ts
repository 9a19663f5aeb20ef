/** 256 KiB that decompress to 8 GiB: every service that accepts compressed blobs refuses them early. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { startServer } from '../../src/app/server/server.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { base64, encoded } from '../execution/messages.ts'

const MiB = 1024 * 1024
const SIZE = 8 * 1024 * MiB
const HASH = 'ab'.repeat(32)
const frame = zstdCompressSync(Buffer.alloc(64 * MiB))
const bomb = Buffer.concat(Array.from({ length: SIZE / (64 * MiB) }, () => frame))
/** Seconds of processor time, not of the clock; decompressing 8 GiB takes more than ten. */
const MOST_CPU_SECONDS = 4

let folder: string
let server: Awaited<ReturnType<typeof startServer>>
let channel: Channel

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-bombs-'))
  const env = {
    WINDLASS_SERVER_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_DRAIN_SECONDS: '1',
    WINDLASS_SERVER_DATA_DIR: folder,
  }
  server = await startServer(loadConfig({ env, home: folder }).config, { log: silentLog, clock: systemClock })
  const [host = '', port] = server.grpc.split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  channel = createChannel({ address: { host, port: Number(port) }, timing })
})

afterAll(async () => {
  channel.close()
  await server.stop()
  await rm(folder, { recursive: true })
})

async function expectCheap(work: () => Promise<unknown>): Promise<void> {
  const before = await heldBytes()
  const started = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(started)
  expect((user + system) / 1e6).toBeLessThan(MOST_CPU_SECONDS)
  expect((await heldBytes()) - before).toBeLessThan(64 * MiB)
}

const write = (compressor: string, data: Uint8Array) =>
  channel.unary(
    '/google.bytestream.ByteStream/Write',
    encoded('google.bytestream.WriteRequest', {
      resourceName: `uploads/11111111-1111-4111-8111-111111111111/compressed-blobs/${compressor}/${HASH}/${SIZE}`,
      finishWrite: true,
      data: base64(data),
    }),
  )

const refused = { code: STATUS.invalidArgument }

test('ByteStream.Write refuses a zstd bomb with INVALID_ARGUMENT', async () => {
  expect(bomb.length).toBeLessThan(300 * 1024)
  await expectCheap(() => expect(write('zstd', bomb)).rejects.toMatchObject(refused))
})

test('ByteStream.Write refuses a brotli bomb with INVALID_ARGUMENT', async () => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  const packed = brotliCompressSync(Buffer.alloc(512 * MiB), { params })
  await expectCheap(() => expect(write('brotli', packed)).rejects.toMatchObject({ ...refused, message: /unpacks to/ }))
})

test('BatchUpdateBlobs refuses a zstd bomb, with a digest of 8 GiB and with one of 1 MiB', async () => {
  const update = (size: number) =>
    channel.unary(
      '/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs',
      encoded('BatchUpdateBlobsRequest', {
        requests: [{ digest: { hash: HASH, sizeBytes: String(size) }, data: base64(bomb), compressor: 'ZSTD' }],
      }),
    )
  await expectCheap(async () => {
    await expect(update(SIZE)).rejects.toMatchObject(refused)
    const { message } = await update(MiB)
    expect(Buffer.from(message).toString('latin1')).toContain('not zstd, or not what its digest says')
  })
})

test('the HTTP cache refuses a zstd bomb with status 400', async () => {
  await expectCheap(async () => {
    const { status } = await fetch(`http://${server.http}/cas/${HASH}`, {
      method: 'PUT',
      headers: { 'content-encoding': 'zstd', 'x-digest-sizebytes': String(SIZE) },
      body: bomb,
    })
    expect(status).toBe(400)
  })
})
