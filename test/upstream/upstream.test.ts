import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Log, silentLog } from '../../src/base/log.ts'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { createAuthority } from '../../src/testing/certificates.ts'
import { refusal } from '../cache/cache-client.ts'
import { clientOf, dataDir, startBehind, startUpstream } from './grid.ts'

const MiB = 1024 * 1024

describe('a server with an upstream', () => {
  test("serves and keeps the upstream's blobs, and continues while the upstream is killed and restarted", async () => {
    const data = dataDir()
    const first = await startUpstream(data)
    const there = clientOf(first.grpc)
    const printed: string[] = []
    const note = (_: object, text: string) => void printed.push(text)
    const log: Log = { ...silentLog, child: () => log, warn: note, info: note }
    const here = clientOf(
      (await startBehind(first.grpc, { WINDLASS_STORAGE_UPSTREAM_TIMEOUT_SECONDS: '5' }, { log })).grpc,
    )

    const tiny = there.blob(10)
    const large = there.blob(8 * MiB)
    const blobs = [tiny, there.blob(70_000), there.blob(3 * MiB), large]
    for (const blob of blobs) await there.write(blob)
    const later = there.blob(40_000)
    await there.put(later)
    const action = there.blob(100)
    const output = {
      path: 'out',
      digest: tiny.digest,
      isExecutable: false,
      contents: Buffer.alloc(0),
      nodeProperties: undefined,
    }
    const made = resultFrom({ outputFiles: [output], stdoutRaw: Buffer.from('done') })
    await there.api.updateResult({ actionDigest: action.digest, actionResult: made })

    const unknown = here.blob()
    expect(hashesOf(await here.missing([...blobs, unknown]))).toEqual(hashesOf([unknown]))
    for (const blob of blobs) expect(Buffer.compare(await here.read(blob), blob.bytes)).toBe(0)
    expect((await here.api.getResult(action.digest)).stdoutRaw).toEqual(Buffer.from('done'))

    // During a download: the reader has the first message, and reads no more until the upstream is dead.
    const huge = there.blob(32 * MiB)
    await there.write(huge)
    const messages = here.bytestream.messages(here.names.read(huge.digest))[Symbol.asyncIterator]()
    expect((await messages.next()).value?.length).toBeGreaterThan(0)
    await first.kill()
    const rest = (async () => {
      for (let next = await messages.next(); next.done !== true; next = await messages.next());
    })()
    expect((await refusal(rest)).code).toBe(STATUS.unavailable)

    // Local blobs are served; others are a cache miss, and builds continue.
    expect(Buffer.compare(await here.read(large), large.bytes)).toBe(0)
    expect((await here.api.getResult(action.digest)).exitCode).toBe(0)
    expect(hashesOf(await here.missing([...blobs, later, huge]))).toEqual(hashesOf([later, huge]))
    expect((await refusal(here.read(later))).code).toBe(STATUS.notFound)
    const [fresh, streamed] = [here.blob(5000), here.blob(6 * MiB)]
    await here.put(fresh)
    await here.write(streamed)
    expect(hashesOf(await here.missing([fresh, streamed]))).toEqual([])

    await startUpstream(data, first.grpc)
    const missingNow = async () => (await here.missing([later, huge])).length
    await expect.poll(missingNow, { interval: 200 }).toBe(0)
    expect(Buffer.compare(await here.read(huge), huge.bytes)).toBe(0)
    expect(printed).toContain('upstream does not answer, skipping it for a while')
    expect(printed).toContain('upstream answers again')
  }, 60_000)

  test('returns UNAVAILABLE for an unreachable upstream with when_down = "unavailable"', async () => {
    const first = await startUpstream(dataDir())
    const behind = await startBehind(first.grpc, { WINDLASS_STORAGE_UPSTREAM_WHEN_DOWN: 'unavailable' })
    const here = clientOf(behind.grpc)
    const held = here.blob()
    await here.put(held)
    await first.kill()
    expect((await refusal(here.read(here.blob(50_000)))).code).toBe(STATUS.unavailable)
    expect((await refusal(here.api.getResult(here.blob().digest))).code).toBe(STATUS.unavailable)
    expect(await here.missing([held])).toEqual([])
  })

  test('writes to the upstream with write_through', async () => {
    const first = await startUpstream(dataDir())
    const through = await startBehind(first.grpc, { WINDLASS_STORAGE_UPSTREAM_WRITE_THROUGH: 'true' })
    const here = clientOf(through.grpc)
    const there = clientOf(first.grpc)
    const blobs = [here.blob(1000), here.blob(6 * MiB)]
    await here.put(blobs[0] as (typeof blobs)[0])
    await here.write(blobs[1] as (typeof blobs)[0])
    await here.api.updateResult({ actionDigest: blobs[0]?.digest, actionResult: resultFrom({ exitCode: 0 }) })
    expect(hashesOf(await there.missing(blobs))).toEqual([])
    expect((await there.api.getResult(blobs[0]?.digest)).exitCode).toBe(0)
  })

  test('keeps action results of instances apart, and uses no upstream for instances with their own space', async () => {
    const first = await startUpstream(dataDir())
    const behind = await startBehind(first.grpc)
    const one = clientOf(behind.grpc, 'one')
    const action = one.blob().digest
    await clientOf(first.grpc, 'one').api.updateResult({ actionDigest: action, actionResult: resultFrom({}) })
    expect((await refusal(clientOf(behind.grpc, 'two').api.getResult(action))).code).toBe(STATUS.notFound)
    expect((await one.api.getResult(action)).exitCode).toBe(0)

    const file = join(dataDir(), 'settings.toml')
    writeFileSync(file, '[storage.upstream]\ninstance = "one"\n[storage.spaces]\napart = 3\n')
    const fixed = await startBehind(first.grpc, {}, { file })
    const blob = one.blob()
    await clientOf(first.grpc).put(blob)
    expect(await clientOf(fixed.grpc).missing([blob])).toEqual([])
    expect(await clientOf(fixed.grpc, 'apart').missing([blob])).toEqual([blob])
    expect((await clientOf(fixed.grpc).api.getResult(action)).exitCode).toBe(0)
    expect((await refusal(clientOf(fixed.grpc, 'apart').api.getResult(action))).code).toBe(STATUS.notFound)
  })

  test("requires the upstream's certificate, and sends its own", async () => {
    const authority = createAuthority()
    const folder = dataDir()
    const pem = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const server = authority.server()
    const client = authority.client('behind')
    const first = await startBehind(undefined, {
      WINDLASS_SERVER_TLS_CERT_FILE: pem('server.pem', server.cert),
      WINDLASS_SERVER_TLS_KEY_FILE: pem('server.key', server.key),
      WINDLASS_SERVER_TLS_CLIENT_CA_FILE: pem('ca.pem', authority.ca),
    })
    const port = first.grpc.slice(first.grpc.lastIndexOf(':'))
    const tls = {
      WINDLASS_STORAGE_UPSTREAM_URL: `grpcs://localhost${port}`,
      WINDLASS_STORAGE_UPSTREAM_WRITE_THROUGH: 'true',
      WINDLASS_STORAGE_UPSTREAM_TLS_CA_FILE: join(folder, 'ca.pem'),
      WINDLASS_STORAGE_UPSTREAM_TLS_CERT_FILE: pem('client.pem', client.cert),
      WINDLASS_STORAGE_UPSTREAM_TLS_KEY_FILE: pem('client.key', client.key),
    }
    const one = clientOf((await startBehind(undefined, tls)).grpc)
    const other = clientOf((await startBehind(undefined, tls)).grpc)
    const blob = one.blob(100_000)
    await one.write(blob)
    expect(Buffer.compare(await other.read(blob), blob.bytes)).toBe(0)

    const foreign = pem('foreign.pem', createAuthority('Somebody else').ca)
    const doubting = { ...tls, WINDLASS_STORAGE_UPSTREAM_TLS_CA_FILE: foreign }
    expect((await refusal(clientOf((await startBehind(undefined, doubting)).grpc).read(blob))).code).toBe(
      STATUS.notFound,
    )
    await expect(
      startBehind(undefined, { ...tls, WINDLASS_STORAGE_UPSTREAM_TLS_CA_FILE: join(folder, 'none.pem') }),
    ).rejects.toThrow(/^storage\.upstream\.tls\.ca_file: ENOENT/)
  })

  test.each([
    ['that writes through it', { WINDLASS_STORAGE_UPSTREAM_WRITE_THROUGH: 'true' }],
    ['that keeps nothing itself', { WINDLASS_STORAGE_CAS_BACKEND: 'grpc' }],
  ])(
    '%s passes windlass check reapi',
    async (_, env) => {
      const only = { ...env, WINDLASS_CAPABILITIES_EXEC_ENABLED: 'false' } // there is no worker
      const behind = await startBehind((await startUpstream(dataDir())).grpc, only)
      const summary = await check(behind.grpc)
      expect(summary).toMatchObject({ failed: 0 })
      expect(summary.passed).toBeGreaterThan(250)
    },
    120_000,
  )
})

test('an instance with a read-only action cache declares it, and refuses updates with PERMISSION_DENIED', async () => {
  const server = await startBehind(undefined, { WINDLASS_STORAGE_ACTION_CACHE_READ_ONLY_INSTANCES: 'fixed' })
  const fixed = clientOf(server.grpc, 'fixed')
  const update = { actionDigest: fixed.blob().digest, actionResult: resultFrom({}) }
  const { cacheCapabilities } = await fixed.api.capabilities()
  expect(cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled).toBe(false)
  expect(await refusal(fixed.api.updateResult(update))).toMatchObject({
    code: STATUS.permissionDenied,
    message: 'results of actions in instance "fixed" are read-only: callers may not put any',
  })
  const free = clientOf(server.grpc, 'free')
  expect((await free.api.capabilities()).cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled).toBe(true)
  await free.api.updateResult(update)
  expect(await check(server.grpc, '--instance', 'fixed', '--only', 'action-cache.*')).toMatchObject({ failed: 0 })
})

/** Compares hashes, because a difference between blobs of many MiB would be printed whole. */
const hashesOf = (blobs: readonly Blob[]): string[] => blobs.map(({ digest }) => digest.hash)

async function check(address: string, ...flags: string[]): Promise<{ passed: number; failed: number }> {
  const windlass = resolve(import.meta.dirname, '../../bin/windlass')
  const all = ['check', 'reapi', '--target', `grpc://${address}`, '--deadline', '60', '--json', ...flags]
  const { stdout } = await promisify(execFile)(windlass, all, { maxBuffer: 16 * MiB })
  return JSON.parse(stdout).summary
}
