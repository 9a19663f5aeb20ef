import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { memoryJournal, memoryRecords } from '../../src/storage/journal/memory-journal.ts'
import { selfSigned } from '../../src/testing/self-signed.ts'
import { startGrid, submissionFor, until } from './grid.ts'
import { contentOf, gate, resultOf, text } from './told-results.ts'
import { ownFolder, workerHere } from './worker-here.ts'

/** An address that drops every connection until `open` is called, and then forwards them to `behind`. */
async function closedDoor(behind: string) {
  let isOpen = false
  let refused = 0
  const port = Number(behind.split(':').at(-1))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (isOpen) {
      const inner = connect(port, '127.0.0.1').on('error', () => socket.destroy())
      socket.on('close', () => inner.destroy())
      socket.pipe(inner).pipe(socket)
    } else {
      refused++
      socket.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: () => refused,
    open() {
      isOpen = true
    },
  }
}

describe('a gRPC worker', () => {
  test.each([false, true])(
    'runs actions with their inputs and stores their outputs (read by digest: %s)',
    async (byDigest) => {
      const grid = await startGrid()
      await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'w1' })
      const { operation } = await grid.submit({
        script: 'cat in/a.txt; echo "made of $(cat in/a.txt)" > out.txt; mkdir d; echo x > d/x; echo oops >&2; exit 4',
        inputs: { in: { 'a.txt': 'flour' } },
        outputs: ['out.txt', 'd', 'never'],
        byDigest,
      })
      const status = await grid.end(operation)
      expect(status).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1, end: { why: 'result' } })
      const result = resultOf(status)
      expect(result).toMatchObject({ exitCode: 4, metadata: { worker: 'w1' } })
      expect([text(result.stdout.raw), text(result.stderr.raw)]).toEqual(['flour', 'oops\n'])
      expect(result.outputFiles.map(({ path }) => path)).toEqual(['out.txt'])
      expect(await contentOf(grid.blobs, result.outputFiles[0]?.digest)).toBe('made of flour\n')
      expect(result.outputDirectories).toMatchObject([{ path: 'd' }])
      expect(await contentOf(grid.blobs, result.outputDirectories[0]?.treeDigest)).toBeDefined()
    },
  )

  test('runs two tasks at a time with two slots, and finally all twelve', async () => {
    const grid = await startGrid()
    await workerHere(grid.address, { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '2' })
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => grid.submit({ script: `echo ${i}` })))
    const ended = await Promise.all(all.map(({ operation }) => grid.end(operation)))
    expect(ended.map((status) => text(resultOf(status).stdout.raw))).toEqual(all.map((_, i) => `${i}\n`))
    expect(grid.engine.workers.list()).toMatchObject([{ slots: 2, leases: 0 }])
  })

  test('lists its properties, and gets the tasks that require them', async () => {
    const grid = await startGrid()
    await workerHere(grid.address, {
      WINDLASS_WORKER_PLATFORM: 'container=none,Arch=riscv',
      WINDLASS_WORKER_LABELS: 'rack=b',
      WINDLASS_WORKER_GROUP: 'night',
    })
    await until(() => grid.engine.workers.list().length === 1)
    const [view] = grid.engine.workers.list()
    expect(Object.fromEntries(view?.properties.map(({ name, value }) => [name, value]) ?? [])).toMatchObject({
      OSFamily: 'Linux',
      Arch: 'riscv',
      container: 'none',
      'label:rack': 'b',
      group: 'night',
    })
    const { operation } = await grid.submit({ script: 'true' }, { properties: [{ name: 'label:rack', value: 'b' }] })
    expect(await grid.end(operation)).toMatchObject({ state: 'completed' })
  })

  test('kills a task at its timeout and returns its output so far', async () => {
    const grid = await startGrid()
    await workerHere(grid.address)
    const { operation } = await grid.submit({ script: 'echo begun; sleep 60', timeoutMs: 300 })
    const status = await grid.end(operation)
    expect(status).toMatchObject({ state: 'timeout', end: { why: 'timeout' } })
    expect(text(resultOf(status).stdout.raw)).toBe('begun\n')
  })

  test('stops a cancelled task and confirms it', async () => {
    const grid = await startGrid()
    await workerHere(grid.address)
    const { script, begun } = gate()
    const { operation } = await grid.submit({ script })
    await begun()
    await grid.running(operation)
    void grid.engine.cancel(LOCAL_CALLER, operation)
    expect(await grid.end(operation)).toMatchObject({ state: 'cancelled' })
    await until(() => grid.engine.workers.list()[0]?.leases === 0)
  })

  test('streams output while the task runs', async () => {
    const grid = await startGrid()
    await workerHere(grid.address)
    const wait = gate()
    const { operation } = await grid.submit({ script: `echo early; ${wait.script}` })
    await wait.begun()
    let seen = ''
    await until(() => {
      const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
      const piece = listener?.next()
      seen = text(piece?.bytes)
      listener?.close()
      return seen !== ''
    })
    expect(seen).toBe('early\n')
    wait.open()
    expect(await grid.end(operation)).toMatchObject({ state: 'completed' })
  })

  test('stages the next task while its slots are taken, and starts it when one is free', async () => {
    const grid = await startGrid()
    const worker = await workerHere(grid.address, {
      WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '1',
      WINDLASS_WORKER_PREFETCH_TASKS: '1',
    })
    const wait = gate()
    const first = await grid.submit({ script: wait.script })
    await wait.begun()
    await grid.running(first.operation)
    const second = await grid.submit({ script: 'cat in.txt', inputs: { 'in.txt': 'fetched ahead' } })
    const rooms = join(worker.folder, 'worker-1', 'rooms')
    await until(() => readdirSync(rooms).some((room) => existsSync(join(rooms, room, 'root', 'in.txt'))))
    expect(await grid.engine.find(LOCAL_CALLER, second.operation)).toMatchObject({ state: 'assigned', attempt: 1 })
    const releasedAt = Date.now()
    wait.open()
    const status = await grid.end(second.operation)
    expect(status).toMatchObject({ state: 'completed', attempt: 1 })
    const { stdout, metadata } = resultOf(status)
    expect(text(stdout.raw)).toBe('fetched ahead')
    const { seconds = 0, nanos = 0 } = metadata?.times.executionStart ?? {}
    expect(seconds * 1000 + nanos / 1e6).toBeGreaterThanOrEqual(releasedAt) // waiting does not count as execution
  })

  test('returns a prefetched task when another worker has a free slot', async () => {
    const grid = await startGrid()
    const settings = { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '1', WINDLASS_WORKER_PREFETCH_TASKS: '1' }
    await workerHere(grid.address, settings)
    const wait = gate()
    const first = await grid.submit({ script: wait.script })
    await wait.begun()
    await grid.running(first.operation)
    const second = await grid.submit({ script: 'echo elsewhere' })
    await until(async () => (await grid.engine.find(LOCAL_CALLER, second.operation))?.state === 'assigned')
    await workerHere(grid.address, { ...settings, WINDLASS_WORKER_WORKER_ID: 'other' })
    expect(await grid.end(second.operation)).toMatchObject({ state: 'completed', worker: 'other' })
    wait.open()
    expect(await grid.end(first.operation)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  test('reports missing inputs and invalid commands as final, because no other worker could run them', async () => {
    const grid = await startGrid()
    await workerHere(grid.address)
    const { operation } = await grid.submit({ script: 'true' }, { spec: Buffer.from('nonsense') })
    expect(await grid.end(operation)).toMatchObject({ state: 'failed', attempt: 1 })
    const other = await startGrid()
    await workerHere(other.address)
    // Its inputs are in the store of the first.
    const elsewhere = await submissionFor(grid.blobs, { script: 'true', inputs: { 'a.txt': 'here' } })
    const lost = await other.engine.submit(LOCAL_CALLER, elsewhere)
    expect(await other.end(lost.operation)).toMatchObject({
      state: 'failed',
      attempt: 1,
      end: { what: expect.stringContaining('missing') },
    })
  })

  test('deletes its rooms', async () => {
    const grid = await startGrid()
    const worker = await workerHere(grid.address)
    const { operation } = await grid.submit({ script: 'mkdir -p a/b; echo x > a/b/c; chmod 500 a/b' })
    await grid.end(operation)
    await worker.stop()
    expect(readdirSync(join(worker.folder, 'worker-1', 'rooms'))).toEqual([])
  })
})

describe('a gRPC worker that stops', () => {
  test('takes no new task, finishes its tasks, and unregisters', async () => {
    const grid = await startGrid()
    const worker = await workerHere(grid.address, { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '2' })
    const wait = gate()
    const running = await grid.submit({ script: wait.script })
    await wait.begun()
    await grid.running(running.operation)
    const stopping = worker.stop()
    await until(() => grid.engine.workers.list()[0]?.state === 'DRAINING')
    const next = await grid.submit({ script: 'true' })
    wait.open()
    await stopping
    expect(await grid.end(running.operation)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(await grid.engine.find(LOCAL_CALLER, next.operation)).toMatchObject({ state: 'queued' })
    expect(grid.engine.workers.list()).toEqual([])
  })

  test('returns tasks that did not finish within the drain timeout', async () => {
    const grid = await startGrid()
    const worker = await workerHere(grid.address, { WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '0.1' })
    const wait = gate()
    const { operation } = await grid.submit({ script: wait.script })
    await wait.begun()
    await grid.running(operation)
    await worker.stop()
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'queued' })
    wait.open()
    await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'w2' })
    expect(await grid.end(operation)).toMatchObject({ state: 'completed', worker: 'w2' })
  })

  test('ends and unregisters when the server orders a shutdown', async () => {
    const grid = await startGrid()
    const worker = await workerHere(grid.address)
    await until(() => grid.engine.workers.list().length === 1)
    grid.engine.drainWorker(LOCAL_CALLER, worker.id, { shutdown: true })
    await worker.ended
    expect(grid.engine.workers.list()).toEqual([])
  })
})

describe('a restart of the server', () => {
  test('lets workers register again with their running tasks, whose results are applied', async () => {
    const records = memoryRecords()
    const before = await startGrid({ journal: memoryJournal(records) })
    const worker = await workerHere(before.address, { WINDLASS_WORKER_WORKER_ID: 'w1' })
    const wait = gate()
    const { operation } = await before.submit({ script: wait.script })
    await wait.begun()
    await before.running(operation)
    before.kill()
    const after = await startGrid({ journal: memoryJournal(records), blobs: before.blobs, port: before.port })
    await until(() => after.engine.workers.list().some((view) => view.worker === worker.id))
    await after.running(operation)
    wait.open()
    expect(await after.end(operation)).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1 })
  })

  test('lets a worker resend a result that was not acknowledged', async () => {
    const records = memoryRecords()
    const before = await startGrid({ journal: memoryJournal(records) })
    await workerHere(before.address, { WINDLASS_WORKER_WORKER_ID: 'w1' })
    const wait = gate()
    const { operation } = await before.submit({ script: wait.script })
    await wait.begun()
    await before.running(operation)
    before.kill()
    wait.open()
    await new Promise((resolve) => setTimeout(resolve, 300))
    const after = await startGrid({ journal: memoryJournal(records), blobs: before.blobs, port: before.port })
    expect(await after.end(operation)).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1 })
  })
})

test("a worker that cannot renew a lease kills its command when the lease expires by the worker's clock", async () => {
  const grid = await startGrid({ scheduler: { leaseMs: 700 } })
  await workerHere(grid.address, { WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '0.1' })
  const pidFile = join(ownFolder(), 'pid')
  await grid.submit({ script: `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 300` })
  await until(() => existsSync(pidFile))
  const pid = readFileSync(pidFile, 'utf8').trim()
  const isAlive = () => existsSync(`/proc/${pid}`)
  expect(isAlive()).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 1500)) // twice the lease: it was renewed
  expect(isAlive()).toBe(true)
  grid.kill()
  await until(() => !isAlive())
})

test('a worker whose store does not respond waits for it before it registers', async () => {
  const grid = await startGrid()
  const store = await closedDoor(grid.address)
  const worker = await workerHere(grid.address, { WINDLASS_WORKER_CAS_URL: `http://${store.address}` })
  await until(() => store.refused() >= 2) // it retries, and the server itself would have registered it
  expect(grid.engine.workers.list()).toEqual([])
  store.open()
  await until(() => grid.engine.workers.list().length === 1)
  const { operation } = await grid.submit({ script: 'cat in', inputs: { in: 'stored' } })
  const ended = await grid.end(operation)
  expect(ended).toMatchObject({ state: 'completed', worker: worker.id, attempt: 1 })
  expect(text(resultOf(ended).stdout.raw)).toBe('stored')
})

describe('the start of a worker fails', () => {
  test('without the required free disk space', async () => {
    const grid = await startGrid()
    const settings = { WINDLASS_WORKER_HOST_MIN_FREE_BYTES: `${2 ** 52}` }
    await expect(workerHere(grid.address, settings)).rejects.toThrow('MiB free, and a worker needs')
  })

  test('with a backend that is not available', async () => {
    const grid = await startGrid()
    await expect(
      workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'docker', DOCKER_HOST: 'unix:///nowhere' }),
    ).rejects.toThrow('the docker backend does not work here')
  })

  test('in a work directory that another worker uses', async () => {
    const grid = await startGrid()
    const folder = ownFolder()
    await workerHere(grid.address, { WINDLASS_WORKER_HOST_WORK_DIR: folder })
    await expect(workerHere(grid.address, { WINDLASS_WORKER_HOST_WORK_DIR: folder })).rejects.toThrow('is in use')
  })

  test('with an invalid server address', async () => {
    await expect(workerHere('127.0.0.1:1', { WINDLASS_WORKER_SERVER_URL: 'ftp://x' })).rejects.toThrow(
      'worker.server_url: ftp://x is none of',
    )
  })
})

test('a worker connects by TLS only to a server whose CA it trusts', async () => {
  const { cert, key } = selfSigned()
  const grid = await startGrid({ tls: { cert, key } })
  const settings = { WINDLASS_WORKER_SERVER_URL: `https://${grid.address}` }
  const distrustful = await workerHere(grid.address, settings)
  const ca = join(ownFolder(), 'ca.pem')
  writeFileSync(ca, cert)
  const trusting = await workerHere(grid.address, { ...settings, WINDLASS_WORKER_TLS_CA_FILE: ca })
  await until(() => grid.engine.workers.list().length > 0)
  expect(grid.engine.workers.list().map(({ worker }) => worker)).toEqual([trusting.id])
  await distrustful.stop()
  const { operation } = await grid.submit({ script: 'echo secret' })
  expect(text(resultOf(await grid.end(operation)).stdout.raw)).toBe('secret\n')
  await expect(
    workerHere(grid.address, { ...settings, WINDLASS_WORKER_TLS_CA_FILE: join(ownFolder(), 'none') }),
  ).rejects.toThrow('worker.tls.ca_file')
})

test('a second worker with the same name replaces the first, which ends with an error', async () => {
  const grid = await startGrid()
  const settings = { WINDLASS_WORKER_WORKER_ID: 'twin' }
  const first = await workerHere(grid.address, settings)
  await until(() => grid.engine.workers.list().length === 1)
  const second = await workerHere(grid.address, settings)
  await expect(first.ended).rejects.toThrow('another worker has registered as twin')
  const { operation } = await grid.submit({ script: 'echo still here' })
  expect(await grid.end(operation)).toMatchObject({ state: 'completed' })
  await second.stop()
})
