/** Workers that report malformed results: the attempt fails, and no client receives the result. */
import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/hashing/hash-of.ts'
import { DEFAULT_OPTIONS } from '../../src/scheduler/model/options.ts'
import { type ResultParts, resultBytes, treeBytes } from '../../src/wire/reapi/reapi-messages.fixture.ts'
import { putBlob } from '../../src/worker/trees.fixture.ts'
import { startHttpGrid } from '../http-workers/http-grid.ts'
import { seedClient } from './seed-client.ts'

const named = (bytes: Uint8Array) => {
  const { hash, size } = digestOf('sha256', bytes)
  return { hash, sizeBytes: size }
}
const digest = named(Buffer.from('content'))
const TREE = treeBytes({ root: { files: [{ name: '../outside', digest }] } })

const MALFORMED: readonly (readonly [string, ResultParts])[] = [
  ['a path outside', { outputFiles: [{ path: '../outside', digest }] }],
  ['an absolute path', { outputSymlinks: [{ path: '/a', target: 'b' }] }],
  ['a path that comes twice', { outputFiles: ['a', 'a'].map((path) => ({ path, digest })) }],
  ['stdout that is not its digest', { stdoutRaw: Buffer.from('another'), stdoutDigest: digest }],
  ['a tree with a path as a name', { outputDirectories: [{ path: 'out', treeDigest: named(TREE) }] }],
]

/** One task that fails at its first fault: its end reports how the first result was judged. */
async function gridWithTask() {
  const grid = await startHttpGrid({ scheduler: { retry: { ...DEFAULT_OPTIONS.retry, maxRetries: 0 } } })
  await putBlob(grid.blobs, TREE)
  const { operation } = await grid.submit({ script: 'true' })
  return { grid, operation }
}

test.each(MALFORMED)(
  "a gRPC worker's result with %s is refused with INVALID_ARGUMENT, and the attempt fails",
  async (_, parts) => {
    const { grid, operation } = await gridWithTask()
    const client = seedClient(grid.address)
    await client.call('RegisterWorker', { workerId: 'w', capabilities: { maxConcurrentExecutions: 1 } })
    const leased = await client.call('LeaseTask', { workerId: 'w', maxTasks: 1, timeoutSeconds: '5' })
    const [{ taskId }] = (leased as { tasks: [{ taskId: string }] }).tasks
    const result = { exitCode: 0, ...(jsonOf(parts) as object) }
    const report = client.call('UpdateTaskStatus', { workerId: 'w', taskId, status: 'COMPLETED', result })
    await expect(report).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
    const { end } = await grid.end(operation)
    expect(end).toMatchObject({ state: 'failed', what: expect.stringContaining('its worker sent no result') })
    expect(end?.result).toBeUndefined()
  },
)

test.each(MALFORMED)("an HTTP worker's result with %s is refused with 400, and the attempt fails", async (_, parts) => {
  const { grid, operation } = await gridWithTask()
  const about = { name: 'w', hostname: 'h', runtime: 'none', wants_spec: true }
  const { json } = await grid.call('POST', '/api/v1/workers', about)
  const id = String(json.id)
  const work = await grid.call('GET', `/api/v1/workers/${id}/work?wait=5s`)
  const [{ id: task = '' } = {}] = (work.json.data?.tasks ?? []) as unknown as { id?: string }[]
  const whole = { state: 'success', whole: true, result: Buffer.from(resultBytes(parts)).toString('base64') }
  const { status: answered } = await grid.call('PUT', `/api/v1/workers/${id}/tasks/${task}/complete`, whole)
  expect(answered).toBe(400)
  expect((await grid.end(operation)).end).toMatchObject({ state: 'failed' })
})

/** In the JSON form of protobuf: bytes as base64, 64-bit numbers as text. */
const jsonOf = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? `${value}` : value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, jsonOf(each)]))
}
