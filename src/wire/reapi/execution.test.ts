import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withAttemptTimes } from '../hot/action-result.ts'
import { aDigest, judged, maybe, someText } from '../messages/messages.fixture.ts'
import { anActionResult } from './action-result.fixture.ts'
import { actionResultFromProto, actionResultToProto } from './action-result.ts'
import {
  EXECUTION_STAGES,
  type ExecutionOperation,
  executionOperationFromProto,
  executionOperationToProto,
} from './execution.ts'

// Generated code keeps maps in plain objects, in which __proto__ cannot be a key.
const someFileName = someText.filter((name) => name !== '__proto__')

const someStatus = fc.record({
  code: fc.nat(16),
  message: someText,
  details: fc.constantFrom([], [{ kind: 'RetryInfo' as const, retryDelayMs: 1500 }]),
})
const aResponse = fc.record({
  result: maybe(anActionResult('sha256').map(actionResultToProto)),
  cached: fc.boolean(),
  status: someStatus,
  message: someText,
  logs: fc.uniqueArray(fc.record({ name: someFileName, digest: aDigest('sha256'), isHumanReadable: fc.boolean() }), {
    maxLength: 3,
    selector: ({ name }) => name,
  }),
})
const aStream = someText.filter((name) => name !== '')
const aTime = fc.nat()
const anOperation: fc.Arbitrary<ExecutionOperation> = fc.record({
  name: someText,
  stage: fc.constantFrom(...EXECUTION_STAGES),
  actionDigest: maybe(aDigest('sha256')),
  partial: maybe(
    fc.record({ worker: maybe(aStream), queuedAt: maybe(aTime), assignedAt: maybe(aTime), startedAt: maybe(aTime) }),
  ),
  streams: maybe(fc.record({ stdout: aStream, stderr: aStream })),
  response: maybe(aResponse),
})

const plain = (operation: ExecutionOperation) => ({
  ...operation,
  response: operation.response && {
    ...operation.response,
    result: hex(operation.response.result),
    logs: operation.response.logs?.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  },
})
const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

test('an execution operation round-trips, its result byte for byte', () => {
  fc.assert(
    fc.property(anOperation, (operation) => {
      const bytes = executionOperationToProto(operation)
      expect(plain(executionOperationFromProto(bytes))).toEqual(plain(operation))
      expect(judged('google.longrunning.Operation', bytes)).toMatchObject({
        name: operation.name,
        done: operation.response !== undefined,
      })
    }),
  )
})

test('an operation with other metadata, or done without a response, is refused', () => {
  const bytes = Buffer.from('12080a06612f622f632f', 'hex')
  expect(() => executionOperationFromProto(bytes)).toThrow('is of another kind: a/b/c/')
  expect(() => executionOperationFromProto(Buffer.from('1801', 'hex'))).toThrow('has ended without a response')
})

const SEEN = { worker: 'w1', queuedAt: 1000, assignedAt: 2000, startedAt: 3500, endedAt: 4000 }

test('withAttemptTimes adds missing times and the worker, and changes nothing else', () => {
  fc.assert(
    fc.property(anActionResult('sha256'), (result) => {
      if (result.metadata?.times.workerStart !== undefined && result.metadata.times.workerStart.seconds < 0) return
      const bytes = Uint8Array.from(withAttemptTimes(actionResultToProto(result), SEEN))
      const made = actionResultFromProto(bytes, 'sha256')
      expect({ ...made, metadata: undefined }).toEqual({ ...result, metadata: undefined })
      expect(made.metadata?.worker).toBe(result.metadata?.worker || 'w1')
      expect(made.metadata?.auxiliary).toEqual(result.metadata?.auxiliary ?? [])
      expect(made.metadata?.times).toMatchObject(result.metadata?.times ?? {})
      expect(made.metadata?.times.queued).toBeDefined()
    }),
  )
})

test('withAttemptTimes returns a result with all times and a worker unchanged', () => {
  const times = { queued: { seconds: 1, nanos: 0 }, workerStart: { seconds: 2, nanos: 0 } }
  const metadata = { worker: 'its own', times, virtualDurationMs: undefined, auxiliary: [] }
  const stream = { digest: undefined, raw: undefined }
  const rest = { outputDirectories: [], outputSymlinks: [], legacyFileSymlinks: [], legacyDirectorySymlinks: [] }
  const bytes = actionResultToProto({ exitCode: 0, outputFiles: [], ...rest, stdout: stream, stderr: stream, metadata })
  expect(withAttemptTimes(bytes, SEEN)).toBe(bytes)
})
