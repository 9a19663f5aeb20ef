import { expect, onTestFinished, test } from 'vitest'
import { roughWay } from '../../src/testing/rough-way.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { startGrid } from './grid.ts'
import { workerHere } from './worker-here.ts'

test('every task of a gRPC worker has one result although its connection is cut every 150 ms', async () => {
  const grid = await startGrid({
    scheduler: {
      disconnectGraceMs: 5000,
      deliveryGraceMs: 200, // a lease that was lost in transit is detected soon
      retry: { maxRetries: 100, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
    },
  })
  const { address, cut } = await roughWay(grid.port)
  await workerHere(address, { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '3', WINDLASS_WORKER_PREFETCH_TASKS: '2' })
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      grid.submit({ script: `sleep 0.02; echo ${i} > out.txt; echo ${i}`, outputs: ['out.txt'] }),
    ),
  )
  const cutting = setInterval(cut, 150)
  onTestFinished(() => clearInterval(cutting))
  setTimeout(() => clearInterval(cutting), 4000)
  const ended = await Promise.all(all.map(({ operation }) => grid.end(operation)))
  expect(ended.map(({ state }) => state)).toEqual(all.map(() => 'completed'))
  const printed = ended.map(({ end }) => {
    const { stdout, outputFiles } = actionResultFromProto(end?.result ?? new Uint8Array(), 'sha256')
    return [Buffer.from(stdout.raw ?? []).toString(), outputFiles.length]
  })
  expect(printed).toEqual(all.map((_, i) => [`${i}\n`, 1]))
})
