import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedFile } from '../../src/testing/shared-file.ts'
import { putAction, startGrid, until } from './grid.ts'
import { resultOf } from './told-results.ts'
import { ownFolder, workerHere } from './worker-here.ts'
import { startWorkerProcess, windlass } from './worker-process.ts'

const QUICK_RETRY = {
  disconnectGraceMs: 100,
  retry: { maxRetries: 3, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
}

describe('windlass worker daemon', () => {
  test('that is killed during a task leaves no process behind, and another worker runs the task', async () => {
    const grid = await startGrid({ scheduler: QUICK_RETRY })
    const first = await startWorkerProcess(grid.address, ['--id', 'first', '--slots', '1'])
    const pidFile = join(ownFolder(), 'pid')
    const script = `if [ -e ${pidFile} ]; then echo second; else echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 300; fi`
    const { operation } = await grid.submit({ script })
    await until(() => existsSync(pidFile))
    const pid = readFileSync(pidFile, 'utf8').trim()
    first.signal('SIGKILL')
    await first.gone
    await until(() => !existsSync(`/proc/${pid}`))
    await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'second' })
    expect(await grid.end(operation)).toMatchObject({ state: 'completed', worker: 'second', attempt: 2 })
  })

  test('on Ctrl+C finishes its task, unregisters and exits with 0', async () => {
    const grid = await startGrid()
    const worker = await startWorkerProcess(grid.address)
    const folder = ownFolder()
    const [begun, go] = [join(folder, 'begun'), join(folder, 'go')]
    const { operation } = await grid.submit({ script: `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done` })
    await until(() => existsSync(begun))
    await grid.running(operation)
    worker.signal('SIGINT')
    await until(() => grid.engine.workers.list()[0]?.state === 'DRAINING')
    writeFileSync(go, '')
    expect(await worker.gone).toBe(0)
    expect(await grid.end(operation)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(grid.engine.workers.list()).toEqual([])
  })

  test('on SIGTERM reports that it is preempted, and another worker runs its task at once', async () => {
    const grid = await startGrid()
    const worker = await startWorkerProcess(grid.address, ['--id', 'spot'])
    const folder = ownFolder()
    const marks = sharedFile(folder, 'marks')
    // A command that exits with 0 when its job gets SIGTERM, as under Slurm: its result must not be applied.
    const script = `echo $$ >> ${marks}; [ $(wc -l < ${marks}) -gt 1 ] && exit 7; trap 'exit 0' TERM; sleep 600 & wait`
    const { operation } = await grid.submit({ script })
    await grid.running(operation)
    await until(() => readFileSync(marks, 'utf8') !== '')
    await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'own' })
    worker.signal('SIGTERM')
    process.kill(Number(readFileSync(marks, 'utf8').split('\n')[0]), 'SIGTERM')
    const ended = await grid.end(operation)
    expect(ended).toMatchObject({ state: 'completed', worker: 'own', attempt: 2 })
    expect(resultOf(ended).exitCode).toBe(7)
    expect(await worker.gone).toBe(0)
    expect(grid.engine.workers.list().map((one) => one.worker)).toEqual(['own'])
  })

  test('on SIGTERM to a whole job does not report a command that the signal ended first', async () => {
    const grid = await startGrid()
    const worker = await startWorkerProcess(grid.address, ['--id', 'spot'])
    const marks = sharedFile(ownFolder(), 'marks')
    // As a JVM exits.
    const script = `echo $$ >> ${marks}; [ $(wc -l < ${marks}) -gt 1 ] && exit 7; trap 'exit 143' TERM; sleep 600 & wait`
    const { operation } = await grid.submit({ script })
    await grid.running(operation)
    await until(() => readFileSync(marks, 'utf8') !== '')
    await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'own' })
    const command = Number(readFileSync(marks, 'utf8').split('\n')[0])
    process.kill(command, 'SIGTERM')
    worker.signal('SIGTERM')
    const ended = await grid.end(operation)
    expect(ended).toMatchObject({ state: 'completed', worker: 'own', attempt: 2 })
    expect(resultOf(ended).exitCode).toBe(7)
  })

  test('exits with 1 and the reason when the server rejects it', async () => {
    const grid = await startGrid()
    const worker = await startWorkerProcess(grid.address, ['--id', 'twin'])
    await until(() => grid.engine.workers.list().length === 1)
    await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'twin' })
    expect(await worker.gone).toBe(1)
    expect(worker.log()).toContain('another worker has registered as twin')
  })

  test.each([
    [['--slots', 'many'], '--slots'],
    [['--server-url', 'gopher://x'], 'gopher://x is none of'],
    [['--backend', 'cloud'], '--backend'],
  ])('exits with 2 for %j', async (flags, words) => {
    const { code, err } = await windlass('worker', 'daemon', '--data', ownFolder(), ...flags)
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
  })
})

describe('windlass worker execute', () => {
  const execute = (address: string, digest: string, ...more: string[]) =>
    windlass(
      ...['worker', 'execute', '--cas-url', `http://${address}`, '--action-digest', digest],
      ...['--work-dir', ownFolder(), '--backend', 'host', ...more],
    )

  test('runs an action, prints its output, stores its outputs and exits with its exit code', async () => {
    const grid = await startGrid()
    const { text } = await putAction(grid.blobs, {
      script: 'cat in.txt; echo made > out.txt; echo oops >&2; exit 7',
      inputs: { 'in.txt': 'hello\n' },
      outputs: ['out.txt'],
    })
    const { code, out, err } = await execute(grid.address, text)
    expect([code, out]).toEqual([7, 'hello\n'])
    expect(err).toMatch(/^oops\nwindlass: exit code 7\nwindlass: [0-9a-f]{64}\/5 out\.txt\n$/)
  })

  test('prints JSON with --json', async () => {
    const grid = await startGrid()
    const { text } = await putAction(grid.blobs, { script: 'echo hello; echo made > out.txt', outputs: ['out.txt'] })
    const { code, out, err } = await execute(grid.address, text, '--json')
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({ cause: 'ok', exitCode: 0, stdout: 'hello\n', files: [{ path: 'out.txt' }] })
  })

  test('reports missing blobs and invalid digests', async () => {
    const grid = await startGrid()
    const absent = await execute(grid.address, `${'a'.repeat(64)}/5`)
    expect([absent.code, absent.err]).toEqual([1, expect.stringContaining(`missing blob: ${'a'.repeat(64)}/5`)])
    expect(await execute(grid.address, 'abc')).toMatchObject({ code: 2 })
  })
})
