import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../../base/digest.ts'
import type { ActionResult } from '../../../model/action-result.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { digestOf, putOne } from '../../../storage/blobs.fixture.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { fakeCall } from '../../../testing/grpc-call.ts'
import { askRaw } from '../../../testing/raw-http.ts'
import { actionResultFromProto, actionResultToProto } from '../../../wire/reapi/action-result.ts'
import { getActionResult, updateActionResult } from '../../grpc/cache/action-results.ts'
import { type TestCache, testCache } from './http-cache.fixture.ts'

let store: BlobStore
let cache: TestCache
beforeAll(async () => {
  store = memoryStore()
  cache = await testCache(store)
})
afterAll(() => cache.close())

const NOTHING: ActionResult = {
  exitCode: 0,
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: { digest: undefined, raw: undefined },
  stderr: { digest: undefined, raw: undefined },
  metadata: { worker: 'w1', times: {}, virtualDurationMs: undefined, auxiliary: [] },
}
const withFile = (digest: Digest): ActionResult => ({
  ...NOTHING,
  outputFiles: [{ path: 'out', digest, executable: false, contents: undefined, properties: undefined }],
})

let actions = 0
const newAction = (): Digest => digestOf(Buffer.from(`action ${++actions}`))
const put = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${cache.url}${path}`, { method: 'PUT', body: Uint8Array.from(body), headers })
const bytesIn = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

describe('ActionResult over HTTP', () => {
  test('a result with an invalid output path, or with stdout that contradicts its digest, is refused with 400', async () => {
    const digest = await putOne(store, Buffer.from('an output'))
    const { hash } = newAction()
    for (const path of ['../x', 'a\0b', '']) {
      const outputFiles = [{ path, digest, executable: false, contents: undefined, properties: undefined }]
      expect((await put(`/ac/${hash}`, actionResultToProto({ ...NOTHING, outputFiles }))).status).toBe(400)
    }
    const contradiction = { digest, raw: Buffer.from('an0output') }
    expect((await put(`/ac/${hash}`, actionResultToProto({ ...NOTHING, stdout: contradiction }))).status).toBe(400)
    expect((await fetch(`${cache.url}/ac/${hash}`)).status).toBe(404)
  })

  test('a result is returned while its outputs are stored', async () => {
    const { hash } = newAction()
    const bytes = actionResultToProto(withFile(await putOne(store, Buffer.from('an output'))))
    expect((await put(`/ac/${hash}`, bytes)).status).toBe(200)
    const answer = await fetch(`${cache.url}/ac/${hash}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    expect((await bytesIn(answer)).equals(bytes)).toBe(true)
    const head = await askRaw(cache.address, [`HEAD /ac/${hash} HTTP/1.1`, 'Host: localhost', 'Connection: close'])
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, String(bytes.length), ''])
  })

  test('an unknown action, a result with a missing output and a failed one are 404', async () => {
    const results = [withFile(digestOf(Buffer.from('never uploaded'))), { ...NOTHING, exitCode: 1 }]
    for (const result of results) {
      const { hash } = newAction()
      const path = `${cache.url}/ac/${hash}`
      expect((await fetch(path)).status).toBe(404)
      expect((await put(`/ac/${hash}`, actionResultToProto(result))).status).toBe(200)
      const answer = await fetch(path)
      expect([answer.status, await answer.text()]).toEqual([404, `no result for action ${hash}\n`])
      expect((await fetch(path, { method: 'HEAD' })).status).toBe(404)
    }
  })

  test('a result belongs to its instance', async () => {
    const { hash } = newAction()
    await put(`/team/linux/ac/${hash}`, actionResultToProto(NOTHING))
    const statuses = ['/team/linux', '/team', '', '/team/linux/x'].map(
      async (instance) => (await fetch(`${cache.url}${instance}/ac/${hash}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 404, 404, 404])
  })

  test.each(['', '/team', '/team/linux', '/ac', '/team/ac', '/cas/ac'])(
    'a result is found whatever its hash begins with, "ac" included, in the instance "%s"',
    async (instance) => {
      for (const start of ['ac', 'acac', 'ca', 'cac', '00']) {
        const hash = start + digestOf(Buffer.from(`${instance} ${start}`)).hash.slice(start.length)
        const path = `${instance}/ac/${hash}`
        expect([path, (await put(path, actionResultToProto(NOTHING))).status]).toEqual([path, 200])
        expect((await fetch(`${cache.url}${path}`)).status).toBe(200)
        expect((await fetch(`${cache.url}/other${path}`)).status).toBe(404)
      }
    },
  )

  test('bytes that are no ActionResult are refused with 400, and the stored result stays', async () => {
    const { hash } = newAction()
    const bytes = actionResultToProto(NOTHING)
    await put(`/ac/${hash}`, bytes)
    const badDigest = Buffer.from(actionResultToProto(withFile(digestOf(Buffer.from('x'))))).fill('Z', 20, 30)
    for (const wrong of [Buffer.from('{"exitCode": 0}'), Buffer.from([0x12, 0x99]), badDigest]) {
      const answer = await put(`/ac/${hash}`, wrong)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/plain; charset=UTF-8'])
    }
    expect((await bytesIn(await fetch(`${cache.url}/ac/${hash}`))).equals(bytes)).toBe(true)
  })

  test('a result is accepted with any content type', async () => {
    const { hash } = newAction()
    const bytes = actionResultToProto(NOTHING)
    expect((await put(`/ac/${hash}`, bytes, { 'content-type': 'application/octet-stream' })).status).toBe(200)
    expect((await bytesIn(await fetch(`${cache.url}/ac/${hash}`))).equals(bytes)).toBe(true)
  })

  test('a compressed result is refused with 415, and one of 9 MB with 413', async () => {
    const { hash } = newAction()
    const bytes = actionResultToProto(NOTHING)
    expect((await put(`/ac/${hash}`, bytes, { 'content-encoding': 'zstd' })).status).toBe(415)
    expect((await put(`/ac/${hash}`, Buffer.alloc(9_000_000))).status).toBe(413)
    const longText = Buffer.concat([Buffer.of(0x2a, 0xc0, 0xa8, 0xa5, 0x04), Buffer.alloc(9_000_000)])
    expect((await put(`/ac/${hash}`, longText, { 'content-type': 'x' })).status).toBe(413)
    expect((await fetch(`${cache.url}/ac/${hash}`)).status).toBe(404)
  })
})

describe('value that is no ActionResult', () => {
  const zip = Buffer.from('PK\x03\x04 an archive of sccache')
  const gzip = Buffer.concat([Buffer.of(0x1f, 0x8b, 8), Buffer.alloc(100_000, 'an archive of Gradle ')])
  const send = (path: string, body: Uint8Array) =>
    put(path, body, { 'content-type': 'application/vnd.gradle.build-cache-artifact.v2' })

  test('a value is stored under any key and returned unchanged, and a second PUT replaces it', async () => {
    for (const key of [newAction().hash, '0123456789abcdef0123456789abcdef', '0'.repeat(40)]) {
      for (const value of [zip, gzip]) {
        expect((await fetch(`${cache.url}/ac/${key}`)).status).toBe(value === zip ? 404 : 200)
        expect((await send(`/ac/${key}`, value)).status).toBe(200)
        const answer = await fetch(`${cache.url}/ac/${key}`)
        expect(answer.headers.get('content-type')).toBe('application/octet-stream')
        expect((await bytesIn(answer)).equals(value)).toBe(true)
        const head = await fetch(`${cache.url}/ac/${key}`, { method: 'HEAD' })
        expect([head.status, head.headers.get('content-length')]).toEqual([200, String(value.length)])
      }
    }
  })

  test('a value belongs to its instance', async () => {
    const { hash } = newAction()
    await send(`/team/ac/${hash}`, zip)
    expect((await fetch(`${cache.url}/team/ac/${hash}`)).status).toBe(200)
    expect((await fetch(`${cache.url}/ac/${hash}`)).status).toBe(404)
  })

  test('a malformed ActionResult is refused with 400 and not stored as a value', async () => {
    const { hash } = newAction()
    const outside = actionResultToProto(withFile(digestOf(Buffer.from('x'))))
    const wrongType = Buffer.concat([outside, Buffer.of(0x40, 1)])
    expect((await send(`/ac/${hash}`, wrongType)).status).toBe(400)
    expect((await fetch(`${cache.url}/ac/${hash}`)).status).toBe(404)
  })
})

describe('HTTP cache beside the Remote Execution API', () => {
  /** Digest { hash, size_bytes }, of sizes below 128. */
  const digestBytes = ({ hash, size }: Digest) =>
    Buffer.concat([Buffer.of(0x0a, 64), Buffer.from(hash), Buffer.of(0x10, size)])
  const field = (tag: number, bytes: Uint8Array) => Buffer.concat([Buffer.of(tag, bytes.length), bytes])
  const unary = async (method: ReturnType<typeof getActionResult>, request: Uint8Array) =>
    Buffer.from((await method.handle(request, fakeCall())) as Uint8Array)

  test('a result written by HTTP is read by gRPC, and the reverse', async () => {
    const digest = newAction()
    const { hash } = digest
    const bytes = actionResultToProto(NOTHING)
    await put(`/ac/${hash}`, bytes)
    const get = () => unary(getActionResult(cache.instances), field(0x12, digestBytes(digest)))
    expect((await get()).equals(bytes)).toBe(true)

    const newer = actionResultToProto({ ...NOTHING, stdout: { digest: undefined, raw: Buffer.from('newer') } })
    await unary(
      updateActionResult(cache.instances),
      Buffer.concat([field(0x12, digestBytes(digest)), field(0x1a, newer)]),
    )
    expect((await bytesIn(await fetch(`${cache.url}/ac/${hash}`))).equals(newer)).toBe(true)
    const wrongSize = field(0x12, digestBytes({ ...digest, size: digest.size + 1 }))
    await expect(unary(getActionResult(cache.instances), wrongSize)).rejects.toMatchObject({
      fault: { kind: 'absent' },
    })
  })

  test('a result without a worker is stored with the worker "unknown", so that it is never empty', async () => {
    const { hash } = newAction()
    expect((await put(`/ac/${hash}`, Buffer.alloc(0))).status).toBe(200)
    const kept = actionResultFromProto(await bytesIn(await fetch(`${cache.url}/ac/${hash}`)), 'sha256')
    expect(kept.metadata?.worker).toBe('unknown')
  })
})
