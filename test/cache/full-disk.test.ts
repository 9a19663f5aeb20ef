import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { type CacheClient, cacheClient, refusal } from './cache-client.ts'
import { type ServerProcess, startProcess } from './server-process.ts'
import { describeOnSmallDisk, mountSmallDisk, type SmallDisk } from './small-disk.ts'

// Each test uploads tens of megabytes many times.
vi.setConfig({ testTimeout: 120_000 })

const MiB = 1024 * 1024
const FULL = { code: STATUS.resourceExhausted, details: [{ kind: 'RetryInfo', retryDelayMs: 5000 }] }

let disk: SmallDisk
let server: ServerProcess
let client: CacheClient
const held: Blob[] = []

async function start(): Promise<void> {
  // No reserve for the journal: acknowledged blobs stay, and uploads are refused.
  server = await startProcess(disk.folder, { WINDLASS_STORAGE_CAS_MIN_FREE_BYTES: '0' })
  client = cacheClient(server.grpc)
}

async function restart(how: 'kill' | 'stop'): Promise<void> {
  client.close()
  await server[how]()
  await start()
}

/** Stores a result without blobs, which a lookup returns. */
const update = (action: Blob, stdout: string) =>
  client.api.updateResult({
    actionDigest: action.digest,
    actionResult: resultFrom({ stdoutRaw: Buffer.from(stdout) }),
  })

async function stdoutOf({ digest }: Blob): Promise<string> {
  return Buffer.from((await client.api.getResult(digest, { inlineStdout: true })).stdoutRaw).toString()
}

/** Uploads in every way until each is refused; every acknowledged blob is added to `held`. */
async function writeUntilFull(): Promise<void> {
  for (const size of [6 * MiB, MiB, 100_000, 2000, 50]) {
    for (let isFull = false; !isFull; ) {
      const blob = client.blob(size)
      const sent = size > 100_000 ? client.write(blob) : client.put(blob)
      await sent.then(
        () => held.push(blob),
        () => {
          isFull = true
        },
      )
      if (isFull) expect(await refusal(sent)).toMatchObject(FULL)
    }
  }
}

async function putMany(count: number): Promise<void> {
  const many = Array.from({ length: count }, () => client.blob(500))
  await client.put(...many)
  held.push(...many)
}

async function expectAllHeld(): Promise<void> {
  expect(server.isAlive()).toBe(true)
  expect(await client.missing(held)).toEqual([])
  const looked = held.filter(({ bytes }, index) => bytes.length > 500 || index % 50 === 0)
  for (const blob of looked) expect(Buffer.compare(await client.read(blob), blob.bytes)).toBe(0)
}

describeOnSmallDisk('a server on a full disk', () => {
  beforeEach(async () => {
    const mounted = mountSmallDisk(40)
    if (typeof mounted === 'string') throw new Error(mounted)
    disk = mounted
    disk.take('ballast', 10 * MiB)
    held.length = 0
    await start()
  })
  afterEach(async () => {
    client.close()
    await server.kill()
    disk.unmount()
  })

  test('refuses uploads with RESOURCE_EXHAUSTED and a retry time, and still serves reads and lookups', async () => {
    const action = client.blob()
    await update(action, 'before')
    await writeUntilFull()
    disk.fill('filler')
    const refused = client.blob(100_000)
    const large = client.blob(9 * MiB)
    for (const call of [() => client.put(refused), () => client.write(refused), () => client.write(large)]) {
      const { message, ...rest } = await refusal(call())
      expect(rest).toEqual(FULL)
      expect(message).toBe('disk space is exhausted; retry in 5000 ms')
    }
    expect(await refusal(update(action, 'x'.repeat(50_000)))).toMatchObject(FULL)
    await expectAllHeld()
    expect(await client.missing([refused])).toEqual([refused])
    expect(await stdoutOf(action)).toBe('before')
  })

  test('accepts uploads again when space is free, also interrupted ones', async () => {
    await writeUntilFull()
    const large = client.blob(9 * MiB)
    const name = client.names.write(large.digest)
    expect(await refusal(client.bytestream.write(name, large.bytes))).toMatchObject(FULL)
    disk.free('ballast')
    // The client queries the committed size and resumes the upload from there.
    const { committedSize } = await client.bytestream.query(name)
    const rest = { resourceName: name, writeOffset: committedSize, finishWrite: true }
    await client.bytestream.send([{ ...rest, data: large.bytes.subarray(committedSize) }])
    const small = [client.blob(), client.blob(300_000)]
    await client.put(...small)
    held.push(large, ...small)
    await expectAllHeld()
    await restart('kill')
    await expectAllHeld()
  })

  test.each(['kill', 'stop'] as const)('restarts after a %s and serves every acknowledged blob', comesUpAgain)

  // The journal has no space for them when the store is opened, and the first opening fails.
  for (const how of ['kill', 'stop'] as const) {
    test(`restarts after a ${how} with 3,000 blobs that its journal does not contain`, async () => {
      await putMany(3000)
      await comesUpAgain(how)
    })
  }
})

async function comesUpAgain(how: 'kill' | 'stop'): Promise<void> {
  const action = client.blob()
  await update(action, 'before')
  await writeUntilFull()
  disk.fill('filler')
  await restart(how)
  await expectAllHeld()
  expect(await stdoutOf(action)).toBe('before')
  disk.fill('more filler')
  expect(await refusal(client.put(client.blob(100_000)))).toMatchObject(FULL)
  disk.free('ballast')
  const after = client.blob()
  await client.put(after)
  held.push(after)
  await restart(how)
  await expectAllHeld()
}
