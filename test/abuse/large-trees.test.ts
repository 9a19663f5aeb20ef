/**
 * Trees that cost the client little and the server much: they are answered or refused while other clients are served.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Digest } from '../../src/base/digest.ts'
import { digestListOf } from '../../src/base/digest-list.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { binaryTree, doublingDirectories, type MadeDirectory } from '../../src/testing/large-trees.ts'
import { type RunningTestServer, runningServer } from '../../src/testing/running-server.ts'
import { batchUpdateRequest, findMissingRequest } from '../../src/wire/calls/content-requests.ts'
import { encoded, nameOf } from '../execution/messages.ts'

const REAPI = '/build.bazel.remote.execution.v2'
const LEVELS = 16
const DIRECTORIES = 2 ** (LEVELS + 1) - 1
/** The least number of requests of another client served during one call, which pauses hundreds of times. */
const SERVED_MEANWHILE = 40
const AMPLE_MS = 120_000

let folder: string
let server: RunningTestServer
let attacker: Channel
let honest: Channel
let wide: Digest
let doubling: Digest

const last = (all: readonly MadeDirectory[]): Digest => (all.at(-1) as MadeDirectory).digest
const json = ({ hash, size }: Digest) => ({ hash, sizeBytes: String(size) })

async function upload(blobs: readonly MadeDirectory[]): Promise<void> {
  for (let at = 0; at < blobs.length; at += 8000) {
    const part = blobs.slice(at, at + 8000)
    const digests = digestListOf(
      'sha256',
      part.map(({ digest }) => digest),
    )
    await attacker.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, batchUpdateRequest('', digests, part))
  }
}

async function actionOn(root: Digest): Promise<Digest> {
  const command = encoded('Command', { arguments: ['/bin/true'] })
  const action = encoded('Action', { commandDigest: nameOf(command), inputRootDigest: json(root) })
  const blobs = [command, action].map((bytes) => {
    const { hash, sizeBytes } = nameOf(bytes)
    return { bytes, digest: { fn: 'sha256', hash, size: Number(sizeBytes) } as const }
  })
  await upload(blobs)
  return last(blobs)
}

/** Counts the small requests of another client that were answered, one after the other, while the work ran. */
async function servedDuring(work: Promise<unknown>): Promise<number> {
  const request = findMissingRequest('', digestListOf('sha256', [wide]))
  let served = 0
  let isOver = false
  const ended = work.finally(() => {
    isOver = true
  })
  ended.catch(() => {})
  while (!isOver) {
    await honest.unary(`${REAPI}.ContentAddressableStorage/FindMissingBlobs`, request)
    served++
  }
  await ended
  return served
}

/** The total bytes of all response messages. */
async function answered(path: string, request: Uint8Array, timeoutMs = AMPLE_MS): Promise<number> {
  let bytes = 0
  for await (const message of attacker.serverStreaming(`${REAPI}.${path}`, request, { timeoutMs }))
    bytes += message.length
  return bytes
}

const getTree = (root: Digest, pageSize = 0, timeoutMs?: number) =>
  answered(
    'ContentAddressableStorage/GetTree',
    encoded('GetTreeRequest', { rootDigest: json(root), pageSize }),
    timeoutMs,
  )

/** Waits until the action is accepted: no worker runs it. */
async function execute(action: Digest, timeoutMs = AMPLE_MS): Promise<void> {
  const request = encoded('ExecuteRequest', { actionDigest: json(action) })
  const call = attacker.serverStreaming(`${REAPI}.Execution/Execute`, request, { timeoutMs })
  call.trailers.catch(() => {})
  await call.next()
  call.cancel()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'windlass-large-trees-'))
  server = await runningServer(folder)
  const [host = '', port] = server.target.replace('grpc://', '').split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const connect = (): Channel => createChannel({ address: { host, port: Number(port) }, timing })
  attacker = connect()
  honest = connect()
  const many = binaryTree(LEVELS)
  const few = doublingDirectories(LEVELS + 1)
  await upload([...many, ...few])
  wide = last(many)
  doubling = last(few)
}, AMPLE_MS)

afterAll(async () => {
  attacker.close()
  honest.close()
  await server.stop()
  await rm(folder, { recursive: true })
})

describe(`a tree of ${DIRECTORIES} directories`, { timeout: 2 * AMPLE_MS }, () => {
  test('is returned by GetTree while other clients are served', async () => {
    const tree = getTree(wide)
    expect(await servedDuring(tree)).toBeGreaterThan(SERVED_MEANWHILE)
    expect(await tree).toBeGreaterThan(DIRECTORIES * 20)
  })

  test('is returned by GetTree in pages of one directory while other clients are served', async () => {
    const tree = getTree(wide, 1)
    expect(await servedDuring(tree)).toBeGreaterThan(SERVED_MEANWHILE)
  })

  test('is accepted as the input root of an action while other clients are served', async () => {
    expect(await servedDuring(execute(await actionOn(wide)))).toBeGreaterThan(SERVED_MEANWHILE)
  })

  test('is refused with DEADLINE_EXCEEDED when the deadline passes first', async () => {
    server.advance(60_000) // the server caches for some seconds which directories are complete
    const late = { code: STATUS.deadlineExceeded }
    await expect(getTree(wide, 1, 20)).rejects.toMatchObject(late)
    await expect(execute(await actionOn(wide), 20)).rejects.toMatchObject(late)
  })
})

test(`a tree of ${2 ** (LEVELS + 1)} paths over ${LEVELS + 2} directories costs only those directories`, async () => {
  expect(await getTree(doubling)).toBeLessThan(10_000)
  await execute(await actionOn(doubling))
})
