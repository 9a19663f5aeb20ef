import { GrpcError, STATUS, type StatusCode } from '../../../../grpc/status.ts'
import type { ExecutedActionMetadata } from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { OperationMessage } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import { cachingEveryResult } from './breaks-cache.ts'
import {
  allMessages,
  brokenOnPurpose,
  changingMessages,
  changingResult,
  type Detour,
  fails,
  recoded,
  streaming,
} from './detour.ts'

const measuring = (change: (metadata: ExecutedActionMetadata) => Partial<ExecutedActionMetadata>): Detour =>
  changingResult(({ executionMetadata }) =>
    executionMetadata ? { executionMetadata: { ...executionMetadata, ...change(executionMetadata) } } : {},
  )

export const metadataBreaks = {
  'exec-metadata.worker': measuring(() => ({ worker: '' })),
  'exec-metadata.times': measuring(() => ({ inputFetchStartTimestamp: undefined })),
  'exec-metadata.times-ordered': measuring(() => ({ executionCompletedTimestamp: { seconds: 1, nanos: 0 } })),
  'exec-metadata.virtual-duration': measuring(() => ({ virtualExecutionDuration: { seconds: 3600, nanos: 0 } })),
  'exec-metadata.partial': changingMessages((message) => ({
    ...message,
    metadata: { ...message.metadata, partialExecutionMetadata: undefined },
  })),
} satisfies Partial<Record<ExecutionId, Detour>>

/** A client that disconnects cancels the operation. */
const leavingCancels = (name: 'execute' | 'waitExecution'): Detour =>
  streaming(name, async function* (request, call, { methods }) {
    let last: OperationMessage | undefined
    try {
      for await (const message of methods[name](request as never, call)) {
        last = message
        yield message
      }
    } finally {
      if (last !== undefined && !last.done) await methods.cancelOperation({ name: last.name })
    }
  })

const oneEach: Detour = ({ methods }) => {
  const seen = new Set<string>()
  return {
    async *waitExecution(request, call) {
      if (seen.has(request.name)) fails(STATUS.resourceExhausted)
      seen.add(request.name)
      yield* methods.waitExecution(request, call)
    },
  }
}

export const waitBreaks = {
  'wait-execution.current': streaming('waitExecution', async function* (request, call, { methods }) {
    yield* (await allMessages(methods.waitExecution(request, call))).slice(-1)
  }),
  'wait-execution.until-done': streaming('waitExecution', async function* (request, call, { methods }) {
    for await (const message of methods.waitExecution(request, call)) if (!message.done) yield message
  }),
  'wait-execution.same-name': changingMessages(
    (message) => ({ ...message, name: `${message.name}-again` }),
    'waitExecution',
  ),
  'wait-execution.after-end': streaming('waitExecution', async function* (request, call, { methods }) {
    if ((await methods.getOperation(request)).done) fails(STATUS.notFound)
    yield* methods.waitExecution(request, call)
  }),
  'wait-execution.unknown': recoded(STATUS.notFound, STATUS.invalidArgument, 'waitExecution'),
  'wait-execution.several': oneEach,
  'wait-execution.dropped-execute': leavingCancels('execute'),
  'wait-execution.dropped': leavingCancels('waitExecution'),
} satisfies Partial<Record<ExecutionId, Detour>>

const coded = async <T>(call: Promise<T>, from: StatusCode, otherwise: () => T): Promise<T> => {
  try {
    return await call
  } catch (error) {
    if (error instanceof GrpcError && error.code === from) return otherwise()
    throw error
  }
}

export const operationBreaks = {
  'operations.implemented': () => ({ getOperation: async () => fails(STATUS.unimplemented) }),
  'operations.get': ({ methods }) => ({
    getOperation: async (request) => ({ ...(await methods.getOperation(request)), done: true }),
  }),
  'operations.get-ended': ({ methods }) => ({
    getOperation: async (request) => ({ ...(await methods.getOperation(request)), response: undefined }),
  }),
  'operations.get-unknown': ({ methods }) => ({
    getOperation: (request) => coded(methods.getOperation(request), STATUS.notFound, () => fails(STATUS.internal)),
  }),
  'operations.cancel': recoded(STATUS.cancelled, STATUS.internal),
  'operations.cancel-unknown': ({ methods }) => ({
    cancelOperation: (request) => coded(methods.cancelOperation(request), STATUS.notFound, () => ({})),
  }),
  'operations.cancel-ended': ({ methods }) => ({
    async cancelOperation(request) {
      if ((await methods.getOperation(request)).done) throw brokenOnPurpose(STATUS.failedPrecondition)
      return await methods.cancelOperation(request)
    },
  }),
  'operations.cancel-uncached': cachingEveryResult,
  'operations.list': ({ methods }) => ({
    async listOperations(request) {
      const page = await methods.listOperations(request)
      return { ...page, operations: page.operations.filter(({ done }) => done) }
    },
  }),
  'operations.list-pages': ({ methods }) => ({
    listOperations: (request) => methods.listOperations({ ...request, pageToken: '' }),
  }),
  'operations.delete': () => ({ deleteOperation: async () => fails(STATUS.internal) }),
  'operations.delete-unknown': ({ methods }) => ({
    deleteOperation: (request) => coded(methods.deleteOperation(request), STATUS.notFound, () => ({})),
  }),
  'operations.wait': ({ methods }) => ({ waitOperation: ({ name }) => methods.getOperation({ name }) }),
  'operations.wait-late': ({ methods }) => ({
    async waitOperation(request) {
      const message = await methods.waitOperation(request)
      return message.done ? message : fails(STATUS.deadlineExceeded)
    },
  }),
} satisfies Partial<Record<ExecutionId, Detour>>

const naming = (name: string): Detour =>
  changingMessages((message) => ({
    ...message,
    metadata: { ...message.metadata, stdoutStreamName: name, stderrStreamName: name },
  }))

export const logStreamBreaks = {
  'log-stream.stdout': naming('logstreams/nothing'),
  'log-stream.stderr': naming('logstreams/nothing'),
  'log-stream.live': (right) => ({
    ...naming('logstreams/silent')(right),
    async *read() {
      await new Promise(() => {})
    },
  }),
} satisfies Partial<Record<ExecutionId, Detour>>
