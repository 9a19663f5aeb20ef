import { expect, test } from 'vitest'
import { openGrid, turns, until } from '../../../engine/grid.fixture.ts'
import { noNetwork } from '../../../model/properties/network-grants.ts'
import { DEFAULT_EXECUTION_LIMITS, type ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { recentTreesOf } from '../../../services/execution/missing-inputs.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { memoryActionCache } from '../../../storage/memory-action-cache.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { type FakeCall, fakeCall, fakeOutgoing } from '../../../testing/grpc-call.ts'
import { executionOperationFromProto } from '../../../wire/reapi/execution.ts'
import { actionSpecToProto } from '../../../wire/tasks/task-spec.ts'
import { streamOperation } from './door.ts'

const actionDigest = { fn: 'sha256', hash: '0'.repeat(64), size: 7 } as const

/** A task that a client waits for, and the messages that the client got. */
async function waiting(call: FakeCall = fakeCall()) {
  const grid = await openGrid(memoryJournal())
  const { engine, clock } = grid
  const blobs = memoryStore()
  const tools: ExecutionTools = {
    engine,
    instances: () => ({ blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' }),
    clock,
    limits: DEFAULT_EXECUTION_LIMITS,
    logStreams: undefined,
    grants: noNetwork,
    recentTrees: recentTreesOf(clock),
  }
  const out = fakeOutgoing(call)
  const status = await grid.submit({ spec: actionSpecToProto({ actionDigest, inline: undefined }), needsWaiter: true })
  const tell = () => streamOperation(status, { out, call, actionDigest }, tools)
  const stages = () => out.messages.map((message) => executionOperationFromProto(message).stage)
  return { grid, out, call, tell, stages }
}

test('a client that does not read gets no further message, then only the latest state', async () => {
  const { grid, out, tell, stages } = await waiting()
  out.fallBehind()
  const telling = tell()
  await until(() => out.messages.length === 1)
  const worker = grid.worker('w1')
  await turns()
  worker.start()
  await turns()
  await worker.finish(undefined, { result: Buffer.from([0x20, 1]) })
  await turns()
  expect(stages()).toEqual(['queued'])
  out.catchUp()
  await telling
  expect(stages()).toEqual(['queued', 'completed'])
})

test('the task of a client that reads slowly is not cancelled until the client disconnects', async () => {
  const { grid, out, call, tell } = await waiting()
  out.fallBehind()
  const telling = tell()
  await until(() => out.messages.length === 1)
  const worker = grid.worker('w1')
  worker.start()
  await grid.after(90_000)
  expect(worker.calls).toEqual([])
  call.cancel()
  await expect(telling).rejects.toThrow()
  await grid.after(60_000)
  expect(worker.calls).toHaveLength(1)
})

test('a client that disconnects leaves no timer and no watch', async () => {
  const { grid, call, tell, out } = await waiting()
  const before = grid.clock.pending()
  const telling = tell()
  await until(() => out.messages.length === 1)
  await turns()
  expect(grid.clock.pending()).toBe(before + 1) // the timer that repeats the status
  call.cancel()
  await expect(telling).rejects.toThrow('the client left')
  expect(grid.clock.pending()).toBe(before)
  expect(grid.engine.figures().watches).toBe(0)
})

test('a client that disconnected before the first message is not watched', async () => {
  const call = fakeCall()
  const { grid, tell } = await waiting(call)
  call.cancel()
  await expect(tell()).rejects.toThrow('the client left')
  expect(grid.engine.figures().watches).toBe(0)
})
