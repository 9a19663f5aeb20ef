import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { memoryJournal, memoryRecords } from '../../src/storage/journal/memory-journal.ts'
import { operationLogNames } from '../../src/wire/reapi/operation-name.ts'
import { usageOfAuxiliary } from '../../src/wire/tasks/command-task-result.ts'
import { readLog } from '../execution/log-reading.ts'
import { startGrid } from './grid.ts'
import { contentOf, gate, resultOf } from './told-results.ts'
import { workerHere } from './worker-here.ts'

test('outputs are stored after the store has restarted, as long as the lease is valid', async () => {
  const records = memoryRecords()
  const before = await startGrid({ journal: memoryJournal(records) })
  await workerHere(before.address, { WINDLASS_WORKER_WORKER_ID: 'w1' })
  const wait = gate()
  const { operation } = await before.submit({ script: `${wait.script}; echo made > out.txt`, outputs: ['out.txt'] })
  await wait.begun()
  await before.running(operation)
  before.kill()
  wait.open()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const after = await startGrid({ journal: memoryJournal(records), blobs: before.blobs, port: before.port })
  const status = await after.end(operation)
  expect(status).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1 })
  expect(await contentOf(after.blobs, resultOf(status).outputFiles[0]?.digest)).toBe('made\n')
})

test('a result has the usage of its command, and the times of each phase', async () => {
  const grid = await startGrid()
  await workerHere(grid.address)
  const { operation } = await grid.submit({ script: 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05' })
  const { metadata } = resultOf(await grid.end(operation))
  const usage = usageOfAuxiliary(metadata?.auxiliary ?? [])
  expect(usage?.wallMs).toBeGreaterThanOrEqual(50)
  expect(['counted', 'sampled']).toContain(usage?.how)
  const times = (
    [
      'workerStart',
      'inputFetchStart',
      'inputFetchCompleted',
      'executionStart',
      'executionCompleted',
      'outputUploadStart',
      'outputUploadCompleted',
      'workerCompleted',
    ] as const
  ).map((name) => {
    const { seconds = Number.NaN, nanos = 0 } = metadata?.times[name] ?? {}
    return seconds * 1000 + nanos / 1e6
  })
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(metadata?.virtualDurationMs).toBeGreaterThanOrEqual(50)
})

test('the output of a command is read by its log name while it runs, and to the end', async () => {
  const grid = await startGrid()
  await workerHere(grid.address)
  const [host = '', port] = grid.address.split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host, port: Number(port) }, timing })
  onTestFinished(() => channel.close())
  const wait = gate()
  const { operation } = await grid.submit({ script: `echo one; echo oops >&2; ${wait.script}; exit 1` })
  const { stdout, stderr } = operationLogNames(`operations/${operation}`)
  const [out, err] = [readLog(channel, stdout), readLog(channel, stderr)]
  await Promise.all([out.until('one\n'), err.until('oops\n')])
  wait.open()
  expect([await out.rest(), await err.rest()]).toEqual(['one\ndone\n', 'oops\n'])
  expect(await readLog(channel, stdout, { offset: 4 }).rest()).toBe('done\n')
})
