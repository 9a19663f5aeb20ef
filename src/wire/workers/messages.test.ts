import { expect, test } from 'vitest'
import { judged } from '../messages/messages.fixture.ts'
import { actionResultToProto } from '../reapi/action-result.ts'
import {
  heartbeatAnswerFromProto,
  heartbeatAnswerToProto,
  heartbeatFromProto,
  heartbeatToProto,
  unregisterFromProto,
  unregisterToProto,
} from './heartbeat.ts'
import {
  type LeaseMessage,
  leaseRequestFromProto,
  leaseRequestToProto,
  leasesFromProto,
  leasesToProto,
  type StreamServerMessage,
  serverMessageFromProto,
  serverMessageToProto,
  workerMessageFromProto,
  workerMessageToProto,
} from './lease-stream.ts'
import { registrationFromProto, registrationToProto, type WorkerRegistration } from './registration.ts'
import {
  type AttemptState,
  outputPieceFromProto,
  outputPieceToProto,
  taskUpdateFromProto,
  taskUpdateToProto,
} from './report.ts'

const REGISTRATION: WorkerRegistration = {
  worker: 'w1',
  slots: 4,
  resources: { cpu: 2.5, memoryBytes: 8_000_000_000 },
  platform: [
    { name: 'OSFamily', value: 'Linux' },
    { name: 'Arch', value: '*' },
  ],
  running: [],
  prefetch: 1,
  preemptible: true,
  version: '0.1.0',
  labels: [{ name: 'rack', value: 'b' }],
  group: 'night',
  wantsSpec: true,
}

test('a registration round-trips, and an empty list of attempts differs from none', () => {
  expect(registrationFromProto(registrationToProto(REGISTRATION))).toEqual(REGISTRATION)
  const plain = { ...REGISTRATION, running: undefined, resources: {}, labels: [], wantsSpec: false }
  expect(registrationFromProto(registrationToProto(plain))).toEqual(plain)
  expect(judged('expbuild.worker.v1.RegisterWorkerRequest', registrationToProto(REGISTRATION))).toMatchObject({
    workerId: 'w1',
    capabilities: { maxConcurrentExecutions: 4, resources: { cpuCores: 2.5, memoryBytes: 8_000_000_000n } },
    platformProperties: { OSFamily: 'Linux', Arch: '*' },
  })
})

test('a worker without a slot count has one slot', () => {
  expect(registrationFromProto(Uint8Array.of(0x0a, 1, 0x77))).toMatchObject({ worker: 'w', slots: 1, resources: {} })
})

test.each([
  ['slots below nothing', [0x12, 11, 0x08, ...Array(9).fill(0xff), 1]],
  ['a property that is not text', [0x1a, 4, 0x0a, 2, 0xc3, 0x28]],
  ['a list that runs over', [0xa2, 0x06, 9, 0x0a]],
])('a registration with %s is refused', (_, bytes) => {
  expect(() => registrationFromProto(Uint8Array.from(bytes))).toThrow()
})

const LEASE: LeaseMessage = {
  attemptId: '1-a.3-7',
  operation: 'operations/x',
  actionDigest: `${'a'.repeat(64)}/12`,
  timeoutMs: 1500,
  expiresAt: 1_700_000_000_250,
  expiresInMs: 300_000,
  queuedAt: 1_700_000_000_123,
  spec: Uint8Array.of(1, 2, 3),
  attempt: 2,
  prefetch: true,
  instance: 'main',
  origin: 'action',
}

test('leases round-trip', () => {
  expect(leasesFromProto(leasesToProto([LEASE, { ...LEASE, timeoutMs: undefined }]))).toEqual([
    LEASE,
    { ...LEASE, timeoutMs: undefined },
  ])
  expect(judged('expbuild.worker.v1.LeaseTaskResponse', leasesToProto([LEASE]))).toMatchObject({
    tasks: [{ taskId: LEASE.attemptId, leaseExpiresAt: { seconds: 1_700_000_000n, nanos: 250_000_000 } }],
  })
})

test('a lease request round-trips, and one for 0 tasks is refused', () => {
  const question = { worker: 'w1', tasks: 3, waitSeconds: 30 }
  expect(leaseRequestFromProto(leaseRequestToProto(question))).toEqual(question)
  expect(() => leaseRequestFromProto(leaseRequestToProto({ ...question, tasks: 0 }))).toThrow('at least 1')
  expect(() => leaseRequestFromProto(leaseRequestToProto({ ...question, waitSeconds: -1 }))).toThrow('negative')
})

const RESULT = Uint8Array.from(
  actionResultToProto({
    exitCode: 3,
    outputFiles: [],
    outputDirectories: [],
    outputSymlinks: [],
    legacyFileSymlinks: [],
    legacyDirectorySymlinks: [],
    stdout: { digest: undefined, raw: Buffer.from('hello') },
    stderr: { digest: undefined, raw: undefined },
    metadata: undefined,
  }),
)

test.each<AttemptState>([
  { kind: 'started' },
  { kind: 'result', result: RESULT, fn: 'sha256' },
  { kind: 'result', result: new Uint8Array(), fn: 'blake3' },
  { kind: 'result', result: undefined, fn: undefined },
  { kind: 'timeout', result: RESULT, fn: 'sha256' },
  { kind: 'stopped' },
  { kind: 'returned', what: 'leaving' },
  { kind: 'fault', what: 'disk full', hopeless: false },
  { kind: 'fault', what: 'no such command', hopeless: true },
])('a task update of kind $kind round-trips', (what) => {
  const update = { worker: 'w1', attemptId: 'a.1-1', what }
  expect(taskUpdateFromProto(taskUpdateToProto(update))).toEqual(update)
})

test('a result in a task update reads as an ActionResult, and an update without a state is refused', () => {
  const bytes = taskUpdateToProto({
    worker: 'w',
    attemptId: 'a.1-1',
    what: { kind: 'result', result: RESULT, fn: undefined },
  })
  expect(judged('expbuild.worker.v1.UpdateTaskStatusRequest', bytes)).toMatchObject({
    status: 2,
    result: { exitCode: 3 },
  })
  expect(() => taskUpdateFromProto(Uint8Array.of(0x18, 0))).toThrow('is not the status')
})

test('heartbeats and their replies round-trip', () => {
  const heartbeat = {
    worker: 'w1',
    state: 'draining',
    stats: { active: 1, completed: 2_000_000_000_000, failed: 3 },
    running: ['a.1-1'],
    load: 0.25,
  } as const
  expect(heartbeatFromProto(heartbeatToProto(heartbeat))).toEqual(heartbeat)
  const plain = { ...heartbeat, running: undefined, load: undefined }
  expect(heartbeatFromProto(heartbeatToProto(plain))).toEqual(plain)
  expect(heartbeatFromProto(heartbeatToProto({ ...plain, load: Number.NaN })).load).toBeUndefined()
  const answer = { shouldShutdown: true, cancel: ['a.1-1', 'b.1-2'], drain: true }
  expect(heartbeatAnswerFromProto(heartbeatAnswerToProto(answer))).toEqual(answer)
  expect(unregisterFromProto(unregisterToProto('w1'))).toBe('w1')
})

test.each<StreamServerMessage>([
  { kind: 'registered' },
  { kind: 'leases', leases: [LEASE] },
  { kind: 'begin', attemptId: 'a.1-1' },
  { kind: 'stop', attemptId: 'a.1-1', why: 'cancelled' },
  { kind: 'stop', attemptId: 'a.1-1', why: 'superseded' },
  { kind: 'order', order: 'drain' },
  { kind: 'order', order: 'register' },
  { kind: 'unknown' },
])('the server message %j round-trips', (word) => {
  expect(serverMessageFromProto(serverMessageToProto(word))).toEqual(word)
})

test('worker messages and output pieces round-trip', () => {
  for (const word of [
    { kind: 'register', registration: REGISTRATION } as const,
    { kind: 'started', attemptId: 'a.1-1' } as const,
  ])
    expect(workerMessageFromProto(workerMessageToProto(word))).toEqual(word)
  expect(workerMessageFromProto(new Uint8Array())).toBeUndefined()
  const piece = { worker: 'w', attemptId: 'a.1-1', stream: 'stderr', bytes: Uint8Array.of(1, 2) } as const
  for (const at of [undefined, 0, 2 ** 40])
    expect(outputPieceFromProto(outputPieceToProto({ ...piece, at }))).toEqual({ ...piece, at })
})
