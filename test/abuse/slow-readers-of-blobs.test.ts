import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Digest } from '../../src/base/digest.ts'
import { reapiDoor } from '../../src/doors/grpc/cache/door.ts'
import type { Service } from '../../src/grpc/service.ts'
import { digestOf, putOne } from '../../src/storage/blobs.fixture.ts'
import { nodeFiles } from '../../src/storage/packs/node-files.ts'
import { unheardEvents } from '../../src/storage/packs/pack-events.ts'
import { type PackStore, packStore } from '../../src/storage/packs/pack-store.ts'
import { packedActionCache } from '../../src/storage/packs/packed-action-cache.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { call } from '../../src/testing/http2-frames.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { randomFrom } from '../../src/testing/random-source.ts'
import { watchedServer } from './abused-server.ts'
import { CONNECTION_CAP, greedy, MiB, mostHeldWhile, untilStuck } from './greedy-client.ts'

const REAPI = '/build.bazel.remote.execution.v2'
const random = randomFrom(1911)
const names: Record<'mebibyte' | 'large' | 'action', Digest> = {
  mebibyte: digestOf(Buffer.alloc(0)),
  large: digestOf(Buffer.alloc(0)),
  action: digestOf(Buffer.from('an action')),
}
let folder: string
let packs: PackStore
let services: Service[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-slow-readers-'))
  const clock = manualClock()
  const files = nodeFiles(folder, process.pid)
  packs = await packStore({ files, clock, events: unheardEvents, durability: 'process', maxBytes: 2 ** 40 })
  const blobs = packs.space(0)
  const actions = packedActionCache(packs.values())
  names.mebibyte = await putOne(blobs, random.bytes(MiB))
  names.large = await putOne(blobs, random.bytes(32 * MiB))
  // A result that is long by itself and refers to no other blob.
  const symlinks = Array.from({ length: 100 }, (_, i) => symlink(`out-${i}`, 'x'.repeat(1000)))
  await actions.put('', names.action, Buffer.concat(symlinks))
  services = reapiDoor({ instances: () => ({ blobs, uploads: blobs, actions, unnamedFunction: 'sha256' }), clock })
})

afterAll(async () => {
  await packs.close()
  await rm(folder, { recursive: true })
})

/** A length-delimited protobuf field with bytes or text. */
function field(number: number, value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ; left = Math.floor(left / 128)) {
    bytes.push(left < 128 ? left : (left % 128) | 128)
    if (left < 128) return Buffer.from(bytes)
  }
}

const wire = ({ hash, size }: Digest) => Buffer.concat([field(1, hash), Buffer.from([0x10]), varint(size)])
const read = ({ hash, size }: Digest) => field(1, `blobs/${hash}/${size}`)
const batch = (...digests: Digest[]) => Buffer.concat(digests.map((digest) => field(2, wire(digest))))
const result = (action: Digest) => field(2, wire(action))
const symlink = (path: string, target: string) => field(12, Buffer.concat([field(1, path), field(2, target)]))

test.each([
  { what: 'reads of 1 MiB', path: '/google.bytestream.ByteStream/Read', ask: () => read(names.mebibyte) },
  { what: 'reads of 32 MiB', path: '/google.bytestream.ByteStream/Read', ask: () => read(names.large) },
  {
    what: 'batches',
    path: `${REAPI}.ContentAddressableStorage/BatchReadBlobs`,
    ask: () => batch(names.mebibyte, names.mebibyte, names.mebibyte),
  },
  { what: 'results', path: `${REAPI}.ActionCache/GetActionResult`, ask: () => result(names.action) },
])('500 $what hold less than 4 MiB for a client that reads nothing', async ({ path, ask }) => {
  await using server = await watchedServer({}, services)
  const client = await greedy(server)
  const before = await heldBytes()
  client.pause()
  for (let i = 0; i < 500; i++) client.send(call(2 * i + 1, path, ask()))
  const most = await mostHeldWhile(server, untilStuck(server))
  expect(most).toBeGreaterThan(256 * 1024)
  expect(most).toBeLessThanOrEqual(CONNECTION_CAP)
  expect((await heldBytes()) - before).toBeLessThan(16 * MiB)
  client.resume()
  await client.until('much has come', () => client.dataBytes > 40 * MiB)
  await server.expectServing()
})
