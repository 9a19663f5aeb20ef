import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Digest } from '../../src/base/digest.ts'
import { digestListOf } from '../../src/base/digest-list.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { commandTaskOf, hasSucceeded } from '../../src/model/command-task.ts'
import { attemptId } from '../../src/model/fencing.ts'
import { actionResultsCache } from '../../src/services/execution/result-cache.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { onlyComplete } from '../../src/storage/only-complete.ts'
import { sharedFile } from '../../src/testing/shared-file.ts'
import { commandKeyOf } from '../../src/wire/tasks/command-key.ts'
import { commandTaskToProto } from '../../src/wire/tasks/command-task.ts'
import { commandResultFromProto } from '../../src/wire/tasks/command-task-result.ts'
import { startGrid, until } from '../workers/grid.ts'
import { contentOf, gate } from '../workers/told-results.ts'
import { ownFolder, workerHere } from '../workers/worker-here.ts'
import { startWorkerProcess } from '../workers/worker-process.ts'
import { ended, fileOf, runCommand, sh, stageOf, submitCommand, textOf } from './commands.ts'

/** Without a room, because the commands of these tests write files outside of it. */
const BARE = { WINDLASS_WORKER_BACKEND: 'host' }
const QUICK_RETRY = {
  disconnectGraceMs: 100,
  retry: { maxRetries: 3, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
}

test('a task whose worker is killed in its second stage restarts from its first on another worker', async () => {
  const grid = await startGrid({ scheduler: QUICK_RETRY })
  const first = await startWorkerProcess(grid.address, ['--id', 'first', '--slots', '1'])
  const folder = ownFolder()
  const [pidFile, count] = [join(folder, 'pid'), sharedFile(folder, 'count')]
  const wait = gate()
  const noted = `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}`
  const { operation, task } = await submitCommand(grid, {
    stages: [
      sh(`echo x >> ${count}; echo fresh > made`, { name: 'make' }),
      sh(`if [ -e ${pidFile} ]; then cat made; ${wait.script}; else ${noted}; exec sleep 300; fi`),
    ],
    outputs: { paths: ['made'] },
  })
  await until(() => existsSync(pidFile))
  const pid = readFileSync(pidFile, 'utf8').trim()
  first.signal('SIGKILL')
  await first.gone
  await until(() => !existsSync(`/proc/${pid}`))
  await workerHere(grid.address, { ...BARE, WINDLASS_WORKER_WORKER_ID: 'second' })
  await wait.begun()
  const late = { worker: 'first', attemptId: attemptId(task, { epoch: grid.engine.epoch, counter: 1 }) }
  const outcome = { kind: 'result', succeeded: true } as const
  expect(await grid.engine.workers.finished(late, { outcome, result: Buffer.from('late') })).toBe('superseded')
  wait.open()
  const { status, result } = ended(await grid.end(operation))
  expect(status).toMatchObject({ state: 'completed', worker: 'second', attempt: 2 })
  expect(result.stages.map(({ name }) => name)).toEqual(['make', 'run'])
  expect(textOf(stageOf(result).stdout)).toBe('fresh\ndone\n')
  expect(readFileSync(count, 'utf8')).toBe('x\nx\n')
  expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('fresh\n')
})

test('a malformed command task fails on the first attempt, and a task of an unknown origin is retried', async () => {
  const grid = await startGrid({ scheduler: QUICK_RETRY })
  await workerHere(grid.address, BARE)
  const garbled = await grid.engine.submit(LOCAL_CALLER, {
    instance: '',
    origin: 'snippet',
    spec: Buffer.from('garbage'),
  })
  expect(await grid.end(garbled.operation)).toMatchObject({ state: 'failed', attempt: 1 })
  const unknown = await grid.engine.submit(LOCAL_CALLER, {
    instance: '',
    origin: 'poem',
    spec: Buffer.from('x'),
    maxRetries: 1,
  })
  const status = await grid.end(unknown.operation)
  expect(status).toMatchObject({ state: 'failed', attempt: 2 })
  expect(status.end?.what).toContain('does not support tasks from poem')
})

test('a task that is cancelled in the middle of a stage has no result, and its processes are killed', async () => {
  const grid = await startGrid()
  await workerHere(grid.address, BARE)
  const pidFile = join(ownFolder(), 'pid')
  const { operation } = await submitCommand(grid, {
    stages: [
      sh('true', { name: 'first' }),
      sh(`echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 300`),
    ],
  })
  await until(() => existsSync(pidFile))
  const pid = readFileSync(pidFile, 'utf8').trim()
  await grid.engine.cancel(LOCAL_CALLER, operation)
  const status = await grid.end(operation)
  expect(status).toMatchObject({ state: 'cancelled', end: { result: undefined } })
  await until(() => !existsSync(`/proc/${pid}`))
})

test('the output of each stage is streamed while it runs', async () => {
  const grid = await startGrid()
  await workerHere(grid.address, BARE)
  const wait = gate()
  const { operation } = await submitCommand(grid, {
    stages: [sh('echo compiling', { name: 'compile' }), sh(`echo running; ${wait.script}`)],
  })
  let seen = ''
  await until(() => {
    const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
    for (let piece = listener?.next(); piece !== undefined; piece = listener?.next())
      seen += Buffer.from(piece.bytes).toString()
    listener?.close()
    return seen.includes('compiling\nrunning\n')
  })
  wait.open()
  expect(textOf(stageOf(ended(await grid.end(operation)).result).stdout)).toBe('running\ndone\n')
})

test('two equal cacheable tasks are merged into one, which is prefetched like any other', async () => {
  const grid = await startGrid()
  await workerHere(grid.address, {
    ...BARE,
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '1',
    WINDLASS_WORKER_PREFETCH_TASKS: '1',
  })
  const options = { stages: [sh('cat in')], inputs: { files: [fileOf('in', 'same')] }, cacheable: true }
  const wait = gate()
  await submitCommand(grid, { stages: [sh(wait.script)] })
  const [one, other] = [await submitCommand(grid, options), await submitCommand(grid, options)]
  expect(other.task).toBe(one.task)
  wait.open()
  expect(hasSucceeded(ended(await grid.end(other.operation)).result)).toBe(true)
})

test('the action cache returns the result of a command task only while all of its blobs are stored', async () => {
  const grid = await startGrid()
  await workerHere(grid.address, BARE)
  const options = { stages: [sh('seq 1 50000; echo a > out')], outputs: { globs: ['out'] }, cacheable: true }
  const { status, result } = await runCommand(grid, options)
  const [held, kept] = [memoryActionCache(), commandKeyOf(commandTaskToProto(commandTaskOf(options)), 'sha256')]
  const cacheOver = (blobs: BlobStore) => {
    const commands = onlyComplete(blobs)(held)
    return actionResultsCache({ actionsOf: () => memoryActionCache(), commandsOf: () => commands })
  }
  await cacheOver(grid.blobs).put('', kept, status.end?.result ?? new Uint8Array())
  const found = await cacheOver(grid.blobs).get('', kept)
  expect(found && commandResultFromProto(found, 'sha256')).toEqual(result)
  const withoutOutput = memoryStore()
  for (const digest of [result.outputs.root, result.outputs.files[0]?.digest])
    await copy(grid.blobs, withoutOutput, digest)
  expect(await cacheOver(withoutOutput).get('', kept)).toBeUndefined()
})

async function copy(from: BlobStore, to: BlobStore, digest: Digest | undefined): Promise<void> {
  const content = await contentOf(from, digest)
  if (digest !== undefined && content !== undefined)
    await to.writeMany(digestListOf(digest.fn, [digest]), [Buffer.from(content)])
}
