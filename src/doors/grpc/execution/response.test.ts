import { expect, test } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OperationEnd, OperationStatus } from '../../../engine/tasks/status.ts'
import { noNetwork } from '../../../model/properties/network-grants.ts'
import type { TaskState } from '../../../model/task-state.ts'
import { DEFAULT_EXECUTION_LIMITS, type ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { recentTreesOf } from '../../../services/execution/missing-inputs.ts'
import { memoryActionCache } from '../../../storage/memory-action-cache.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { fakeCall } from '../../../testing/grpc-call.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { executionOperationFromProto } from '../../../wire/reapi/execution.ts'
import { actionSpecToProto } from '../../../wire/tasks/task-spec.ts'
import { operationMessages, operationSummary } from './response.ts'

const blobs = memoryStore()
const clock = manualClock()
const tools: ExecutionTools = {
  engine: {} as Engine, // unused here
  instances: () => ({ blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' }),
  clock,
  limits: DEFAULT_EXECUTION_LIMITS,
  logStreams: undefined,
  grants: noNetwork,
  recentTrees: recentTreesOf(clock),
}

const actionDigest = { fn: 'sha256', hash: '0'.repeat(64), size: 7 } as const
const statusIn = (state: TaskState, end?: Partial<OperationEnd>): OperationStatus => ({
  operation: 'op-1',
  task: 't1',
  instance: 'main',
  origin: 'action',
  state,
  attempt: 1,
  starts: 1,
  worker: 'w1',
  acceptedAt: 1000,
  joinedAt: 1000,
  queuedAt: 1000,
  assignedAt: 2000,
  startedAt: 3000,
  end: end && { state: 'failed', why: 'faults', what: 'why', at: 4000, cached: false, result: undefined, ...end },
  spec: actionSpecToProto({ actionDigest, inline: undefined }),
  note: undefined,
})

const told = async (status: OperationStatus) =>
  executionOperationFromProto(await operationMessages(status, tools, { call: fakeCall(), actionDigest })(status))

test.each<[TaskState, string]>([
  ['pending', 'cacheCheck'],
  ['queued', 'queued'],
  ['assigned', 'queued'],
  ['retrying', 'queued'],
  ['running', 'executing'],
  ['stopping', 'executing'],
  // Ended, but not yet recorded: reported when it is.
  ['completed', 'executing'],
  ['cancelled', 'executing'],
])('a task in the state %s is in the stage %s, and its operation is not done', async (state, stage) => {
  expect(await told(statusIn(state))).toMatchObject({ stage, response: undefined, actionDigest })
})

test.each<[string, Partial<OperationEnd>, number]>([
  ['completed', { state: 'completed', why: 'result', result: Buffer.from([0x20, 1]) }, 0],
  ['completed without a result', { state: 'completed', why: 'result' }, 13],
  ['out of time', { state: 'timeout', why: 'timeout' }, 4],
  ['cancelled', { state: 'cancelled', why: 'cancelled' }, 1],
  ['fitted by no worker', { why: 'no-worker' }, 9],
  ['lost with its workers', { why: 'poison' }, 14],
  ['tried too often', { what: 'no disk (attempt 4, the last)' }, 14],
  ['not recorded', { why: 'unrecorded', what: 'its end could not be recorded: it is too long' }, 13],
])('the operation of a task that was %s is done, with its status code', async (_, end, code) => {
  const status = statusIn(end.state ?? 'failed', { ...end, why: end.why ?? 'faults' })
  const summary = executionOperationFromProto(operationSummary(status, tools))
  expect(summary).toMatchObject({ name: 'main/operations/op-1', stage: 'completed', response: { status: { code } } })
  expect(summary.response?.result).toBeUndefined()
})

test('a result that a worker sent with a fault is not returned', async () => {
  const { response } = await told(statusIn('failed', { why: 'poison', result: Buffer.from([0xff]) }))
  expect(response).toMatchObject({ result: undefined, status: { code: 14, message: 'why' } })
})

test('a store that cannot be read does not hide the reason why the task failed', async () => {
  const failing = {
    ...blobs,
    readMany() {
      throw new FaultError({ kind: 'unavailable', what: 'the disk is gone' })
    },
  }
  const over = { ...tools, instances: () => ({ ...tools.instances(''), blobs: failing }) }
  const status = statusIn('failed', { what: 'no disk (attempt 4, the last)' })
  const { response } = executionOperationFromProto(
    await operationMessages(status, over, { call: fakeCall(), actionDigest })(status),
  )
  expect(response?.status).toMatchObject({ code: 14, message: 'no disk (attempt 4, the last)' })
})
