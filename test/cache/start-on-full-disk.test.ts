/** A server that starts on a full disk, with a worker process and clients. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import { windlass } from '../workers/worker-process.ts'
import { cacheClient, refusal } from './cache-client.ts'
import { type ServerProcess, startProcess } from './server-process.ts'
import { describeOnSmallDisk, mountSmallDisk, type SmallDisk } from './small-disk.ts'

vi.setConfig({ testTimeout: 120_000 })

const MiB = 1024 * 1024
const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

let disk: SmallDisk
let server: ServerProcess | undefined
let worker: ChildProcess | undefined

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = performance.now() + 120_000; !(await isSo()); ) {
    if (performance.now() > end) throw new Error(`${what}: ${server?.log()}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

const at = (path: string): string => `http://${server?.http}${path}`
const readiness = async () => {
  const answer = await fetch(at('/readyz'))
  return { status: answer.status, text: await answer.text() }
}

function startWorkerOf({ grpc }: ServerProcess): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-waiting-worker-'))
  const words = ['worker', 'daemon', '--server-url', `http://${grpc}`, '--data', folder, '--slots', '1']
  const env = { ...process.env, WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1', WINDLASS_WORKER_BACKEND: 'host' }
  const child = spawn(WINDLASS, words, { stdio: 'ignore', env })
  child.once('close', () => rmSync(folder, { recursive: true, force: true }))
  return child
}

describeOnSmallDisk('the start on a full disk', () => {
  beforeEach(() => {
    const mounted = mountSmallDisk(40)
    if (typeof mounted === 'string') throw new Error(mounted)
    disk = mounted
  })
  afterEach(async () => {
    worker?.kill('SIGKILL')
    await server?.kill()
    disk.unmount()
  })

  test('of a server reports the reason, refuses requests with 503, and completes when space is free', async () => {
    disk.take('ballast', 20 * MiB)
    disk.fill('filler')
    server = await startProcess(disk.folder)
    expect(server.first).toMatchObject({ ready: false, reasons: [expect.stringContaining('disk space')] })
    const { status, text } = await readiness()
    expect(status).toBe(503)
    expect(text).toContain('disk space for the journal')
    for (const [method, path] of [
      ['GET', '/api/v1/languages'],
      ['GET', '/api/v1/workers'],
      ['GET', '/submissions/batch'],
      ['GET', '/api/v2/runtimes'],
    ] as const)
      expect([(await fetch(at(path), { method })).status, path]).toEqual([503, path])
    const body = JSON.stringify({ language: 'bash', code: 'echo hi' })
    const headers = { 'content-type': 'application/json' }
    const run = await fetch(at('/api/v1/tasks'), { method: 'POST', headers, body })
    expect(run.status).toBe(503)
    expect(await run.text()).toContain('disk space for the journal')
    const client = cacheClient(server.grpc)
    try {
      const execute = '/build.bazel.remote.execution.v2.Execution/Execute'
      for (const path of [execute, '/expbuild.worker.v1.WorkerScheduler/RegisterWorker'])
        expect(await refusal(client.api.raw(path, new Uint8Array()))).toMatchObject({
          code: STATUS.unavailable,
          message: expect.stringContaining('disk space for the journal'),
        })
      expect((await fetch(at(`/cas/${'0'.repeat(64)}`))).status).toBe(404) // the cache responds
    } finally {
      client.close()
    }
    worker = startWorkerOf(server)
    await new Promise((done) => setTimeout(done, 3000))
    expect(worker.exitCode).toBeNull()
    disk.free('filler')
    disk.free('ballast')
    await until(async () => (await readiness()).status === 200, 'the server did not become ready')
    await until(async () => (await (await fetch(at('/api/v1/workers'))).text()).includes('"state"'), 'no worker came')
    expect(worker.exitCode).toBeNull()
    expect((await fetch(at('/api/v1/languages'))).status).toBe(200)
  })

  test("evicts blobs to keep the journal's reserve free", async () => {
    server = await startProcess(disk.folder)
    const client = cacheClient(server.grpc)
    for (let size = 0; size < 20 * MiB; size += MiB) await client.write(client.blob(MiB))
    client.close()
    await server.kill()
    disk.fill('filler')
    expect(disk.freeBytes()).toBe(0)
    server = await startProcess(disk.folder)
    await until(async () => (await readiness()).status === 200, 'the server did not make space')
    expect(disk.freeBytes()).toBeGreaterThan(4 * MiB)
    expect(server.log()).toContain('evicted blobs to keep disk space free for the journal')
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'waits for space when the previous process ended by %s',
    async (signal) => {
      server = await startProcess(disk.folder)
      await (signal === 'SIGTERM' ? server.stop() : server.kill())
      disk.fill('filler')
      server = await startProcess(disk.folder)
      expect(server.first).toMatchObject({ ready: false, reasons: [expect.stringContaining('disk space')] })
      expect(await readiness()).toMatchObject({
        status: 503,
        text: expect.stringContaining('disk space for the journal'),
      })
      disk.free('filler')
      await until(async () => (await readiness()).status === 200, 'the server did not become ready')
    },
  )

  test("fails when the journal's log was deleted, or its database was emptied beside its log", async () => {
    server = await startProcess(disk.folder)
    await server.kill()
    const [database, log] = ['journal.db', 'journal.db-wal'].map((name) => join(disk.folder, 'journal', name))
    const before = readFileSync(`${database}`)
    truncateSync(`${database}`, 0)
    await expect(startProcess(disk.folder)).rejects.toThrow(/journal\.db is empty.*--start-without-journal/s)
    expect(statSync(`${log}`).size).toBeGreaterThan(0) // the log can still be recovered
    writeFileSync(`${database}`, before)
    rmSync(`${log}`)
    for (let start = 0; start < 2; start++)
      await expect(startProcess(disk.folder)).rejects.toThrow(/journal\.db is empty.*--start-without-journal/s)
  })

  test('fails when the journal is empty or missing, unless --start-without-journal is set', async () => {
    server = await startProcess(disk.folder)
    await server.stop()
    const journal = join(disk.folder, 'journal')
    expect(statSync(join(journal, 'journal.db')).size).toBeGreaterThan(0)
    for (const name of readdirSync(journal)) if (name !== 'journal.db') rmSync(join(journal, name))
    truncateSync(join(journal, 'journal.db'), 0)
    await expect(startProcess(disk.folder)).rejects.toThrow(/journal\.db is empty.*--start-without-journal/s)
    rmSync(journal, { recursive: true })
    await expect(startProcess(disk.folder)).rejects.toThrow(/journal\.db is missing.*--start-without-journal/s)
    server = await startProcess(disk.folder, { WINDLASS_SERVER_START_WITHOUT_JOURNAL: 'true' })
    await until(async () => (await readiness()).status === 200, 'it did not start after a confirmation')
  })

  test('of a worker fails with the free space that it needs', async () => {
    disk.fill('filler')
    const { code, err } = await windlass('worker', 'daemon', '--backend', 'host', '--data', disk.folder)
    expect([code, err]).toEqual([1, expect.stringMatching(/has 0 MiB free, and a worker needs/)])
  })

  test('logs a truncated pack file', async () => {
    server = await startProcess(disk.folder)
    const client = cacheClient(server.grpc)
    await client.put(client.blob(100_000), client.blob(100_000))
    client.close()
    await server.stop()
    const packs = join(disk.folder, 'cas', 'packs')
    const [pack = ''] = readdirSync(packs)
    truncateSync(join(packs, pack), 60_000)
    server = await startProcess(disk.folder)
    expect(server.log()).toContain('pack file is truncated')
  })
})
