import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { randomFrom } from '../../testing/random-source.ts'
import { type RunningTestServer, runningServer } from '../../testing/running-server.ts'
import { connect } from '../connection/connect.ts'
import { rpcClient } from '../connection/rpc.ts'
import { parseTarget, type Target } from '../connection/target.ts'
import { type CasClient, casClient } from './cas-client.ts'
import { uploader } from './cas-upload.ts'
import { bufferBlob, fileBlob } from './local-blob.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-upload-'))
const random = randomFrom(31)
let server: RunningTestServer
let channel: ReturnType<typeof connect>
let client: CasClient
let ids = 0

beforeAll(async () => {
  await prepareHashing()
  server = await runningServer(join(folder, 'data'))
  channel = connect(parseTarget(server.target) as Target, { clock: server.clock })
  const newId = () => `00000000-0000-4000-8000-${String(ids++).padStart(12, '0')}`
  const { signal } = new AbortController()
  client = casClient({ rpcs: rpcClient(channel), instance: '', fn: 'sha256', newId, signal })
})
afterAll(async () => {
  channel.close()
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** Counts the requests to the server. */
function counted() {
  const calls: string[] = []
  const counting: CasClient = {
    ...client,
    missing(digests) {
      calls.push(`missing ${digests.length}`)
      return client.missing(digests)
    },
    updateMany(blobs) {
      calls.push(`update ${blobs.length}`)
      return client.updateMany(blobs)
    },
    write(digest, pieces, compressor) {
      calls.push(`write ${digest.size}`)
      return client.write(digest, pieces, compressor)
    },
  }
  const seen = { found: 0, moved: 0, held: 0 }
  const count = (what: keyof typeof seen) => (blobs: number) => {
    seen[what] += blobs
  }
  const meter = { found: count('found'), moved: count('moved'), held: count('held') }
  return { uploads: uploader({ client: counting, meter, compress: false }), calls, seen }
}

const blobOf = (bytes: Uint8Array) => bufferBlob('memory', digestOf('sha256', bytes), bytes)

test('small blobs are uploaded in batches, large ones as streams, and a repeated one once', async () => {
  const { uploads, calls, seen } = counted()
  const small = Array.from({ length: 1100 }, () => random.bytes(8000))
  for (const bytes of [...small, ...small.slice(0, 7)]) await uploads.add(blobOf(bytes))
  const large = random.bytes(2_000_000)
  await uploads.add(blobOf(large))
  await uploads.add(blobOf(new Uint8Array(0)))
  await uploads.finish()
  expect(calls.filter((call) => call.startsWith('missing')).sort()).toEqual([
    'missing 101',
    'missing 500',
    'missing 500',
  ])
  expect(calls.filter((call) => call.startsWith('update')).length).toBeLessThan(8)
  expect(calls.filter((call) => call.startsWith('write'))).toEqual(['write 2000000'])
  expect(seen).toEqual({ found: 1108, moved: 1101, held: 7 })
  expect(await client.missing([...small, large].map((bytes) => digestOf('sha256', bytes)))).toEqual(new Set())
})

describe('upload of a file that changes after it was hashed', () => {
  test.each([1000, 900_000])(
    'fails with the file name when its size of %i bytes changes, and nothing is stored',
    async (size) => {
      const path = join(folder, `changing-${size}`)
      writeFileSync(path, random.bytes(size))
      const { uploads } = counted()
      const blob = await fileBlob(path, 'sha256')
      await uploads.add(blob)
      appendFileSync(path, 'more')
      await expect(uploads.finish()).rejects.toThrow(`${path} changed while it was read`)
      expect((await client.missing([blob.digest])).size).toBe(1)
    },
  )

  test('fails when its content changes at the same size, because the server rejects the bytes', async () => {
    const path = join(folder, 'same-size')
    writeFileSync(path, random.bytes(900_000))
    const { uploads } = counted()
    const blob = await fileBlob(path, 'sha256')
    await uploads.add(blob)
    writeFileSync(path, random.bytes(900_000))
    await expect(uploads.finish()).rejects.toThrow('did the file change while it was read?')
    expect((await client.missing([blob.digest])).size).toBe(1)
  })
})

test('an upload stops early when the server already has the blob', async () => {
  const bytes = random.bytes(40_000_000)
  const digest = digestOf('sha256', bytes)
  await client.write(digest, blobOf(bytes).pieces(), 'identity')
  let asked = 0
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += 100_000) {
      asked++
      yield bytes.subarray(at, at + 100_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await client.write(digest, pieces(), 'identity')
  expect(asked).toBeLessThan(400)
})
