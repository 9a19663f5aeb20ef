/** The whole of remote execution: our client, our gRPC server, the services, a real engine, and scripted workers. */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { byteStreamRead } from '../../src/doors/grpc/cache/byte-stream-read.ts'
import { byteStreamWrite, queryWriteStatus } from '../../src/doors/grpc/cache/byte-stream-write.ts'
import { pausedUploads } from '../../src/doors/grpc/cache/uploads.ts'
import { executionDoor } from '../../src/doors/grpc/execution/door.ts'
import { type LogStreamsOptions, logStreams } from '../../src/doors/grpc/logs/door.ts'
import { reportingFaults } from '../../src/doors/grpc/report-faults.ts'
import type { EngineOptions } from '../../src/engine/engine-options.ts'
import { type Grid, LINUX, openGrid } from '../../src/engine/grid.fixture.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import type { ClientCall } from '../../src/grpc/client/client-call.ts'
import { createServer } from '../../src/grpc/server/server.ts'
import { GrpcError } from '../../src/grpc/status.ts'
import { IMAGELESS_PROPERTY } from '../../src/model/properties/image-need.ts'
import { TASK_FORM_PROPERTY } from '../../src/model/properties/task-form.ts'
import type { ExecutionDoorOptions } from '../../src/services/execution/execution-tools.ts'
import { actionResultsCache } from '../../src/services/execution/result-cache.ts'
import { DEFAULT_REAPI_LIMITS } from '../../src/services/instances/cache-limits.ts'
import type { Instance } from '../../src/services/instances/instances.ts'
import { alwaysHoldingEmptyBlob } from '../../src/storage/always-holding-empty-blob.ts'
import { put } from '../../src/storage/blobs.fixture.ts'
import { type MemoryRecords, memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { onlyComplete } from '../../src/storage/only-complete.ts'
import type { ManualClock } from '../../src/testing/manual-clock.ts'
import { type StatusReport, statusFromProto } from '../../src/wire/google/status.ts'
import { decoded, encoded, nameOf } from './messages.ts'

/** The properties that the worker service adds for a worker that runs actions. */
const FORM = [
  { name: TASK_FORM_PROPERTY, value: 'action' },
  { name: IMAGELESS_PROPERTY, value: 'yes' },
]

export interface OperationJson {
  readonly name: string
  readonly done?: boolean
  readonly error?: JsonObject
  readonly metadata: {
    readonly '@type': string
    readonly stage?: string
    readonly actionDigest?: { readonly hash: string; readonly sizeBytes: string }
    readonly digestFunction?: string
    readonly stdoutStreamName?: string
    readonly stderrStreamName?: string
    readonly partialExecutionMetadata?: Record<string, string>
  }
  readonly response?: ResponseJson
}

export interface ResponseJson {
  readonly '@type': string
  readonly result?: JsonObject & { readonly executionMetadata?: Record<string, string> }
  readonly cachedResult?: boolean
  readonly status?: { readonly code?: number; readonly message?: string; readonly details?: readonly JsonObject[] }
  readonly message?: string
  readonly serverLogs?: Readonly<
    Record<string, { digest: { hash: string; sizeBytes: string }; humanReadable?: boolean }>
  >
}

export interface OperationStream {
  next(): Promise<OperationJson | undefined>
  /** The remaining messages; the last is the end. */
  rest(): Promise<OperationJson[]>
  cancel(): void
}

export interface ExecutionGrid extends Grid {
  readonly instance: Instance
  readonly channel: Channel
  execute(request: JsonObject, metadata?: Record<string, Uint8Array>): OperationStream
  waitExecution(name: string): OperationStream
  /** `Service.Method`, prefixed with the name of its package. */
  unary<T = JsonObject>(path: string, types: readonly [string, string], request: JsonObject): Promise<T>
  operations<T = JsonObject>(method: string, request: JsonObject): Promise<T>
  /** Sends the bytes unchanged. */
  executeRaw(bytes: Uint8Array): OperationStream
  put(...blobs: readonly Uint8Array[]): Promise<void>
  /** Stores an action with its command and by default an empty tree; returns the fields of an ExecuteRequest. */
  action(parts?: ActionParts): Promise<{ actionDigest: { hash: string; sizeBytes: string } }>
}

export interface ActionParts {
  readonly command?: JsonObject
  readonly action?: JsonObject
  /** The input root; the test must store its children. */
  readonly root?: JsonObject
}

export interface ExecutionGridOptions {
  readonly records?: MemoryRecords
  readonly clock?: ManualClock
  readonly instance?: Instance
  readonly engine?: Partial<Omit<EngineOptions, 'clock'>>
  readonly door?: Partial<ExecutionDoorOptions>
  readonly logs?: Partial<LogStreamsOptions>
}

export async function executionGrid(options: ExecutionGridOptions = {}): Promise<ExecutionGrid> {
  const instance = options.instance ?? memoryInstance()
  const grid = await openGrid(memoryJournal(options.records), {
    results: actionResultsCache({ actionsOf: () => instance.actions, commandsOf: () => instance.actions }),
    ...options.engine,
    scheduler: { namesOffered: [TASK_FORM_PROPERTY, IMAGELESS_PROPERTY], ...options.engine?.scheduler },
    ...(options.clock && { clock: options.clock }),
  })
  const { engine, clock } = grid
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const instances = () => instance
  const logs = logStreams({ engine, clock, instances, newId: randomUUID, ...options.logs })
  const writing = { instances, logs, limits: DEFAULT_REAPI_LIMITS, paused: pausedUploads(clock) }
  const byteStream = {
    name: 'google.bytestream.ByteStream',
    methods: {
      Read: byteStreamRead(instances, logs),
      Write: byteStreamWrite(writing),
      QueryWriteStatus: queryWriteStatus(writing),
    },
  }
  const services = [
    ...executionDoor({ engine, clock, instances, logStreams: logs.namesFor, ...options.door }),
    ...logs.services,
    reportingFaults(byteStream),
  ]
  const server = createServer({ services, timing })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const channel = createChannel({ address, timing })
  onTestFinished(() => {
    channel.close()
    server.close()
  })
  const stream = (method: string, bytes: Uint8Array, metadata = {}) =>
    operationStream(
      channel.serverStreaming(`/build.bazel.remote.execution.v2.Execution/${method}`, bytes, { metadata }),
    )
  const unary: ExecutionGrid['unary'] = async <T>(
    path: string,
    [asked, reported]: readonly [string, string],
    json: JsonObject,
  ) => decoded<T>(reported, (await channel.unary(path, encoded(asked, json))).message)
  return {
    ...grid,
    worker: (id, { properties = LINUX, ...rest } = {}) =>
      grid.worker(id, { ...rest, properties: [...properties, ...FORM] }),
    instance,
    channel,
    execute: (request, metadata) => stream('Execute', encoded('ExecuteRequest', request), metadata),
    executeRaw: (bytes) => stream('Execute', bytes),
    waitExecution: (name) => stream('WaitExecution', encoded('WaitExecutionRequest', { name })),
    unary,
    operations: (method, request) =>
      unary(
        `/google.longrunning.Operations/${method}`,
        [`google.longrunning.${method}Request`, OPERATIONS_ANSWERS[method] ?? 'google.longrunning.Operation'],
        request,
      ),
    put: async (...blobs) => void (await put(instance.blobs, ...blobs)),
    action: (parts) => storeAction(instance, parts),
  }
}

const OPERATIONS_ANSWERS: Record<string, string> = {
  ListOperations: 'google.longrunning.ListOperationsResponse',
  CancelOperation: 'google.protobuf.Empty',
  DeleteOperation: 'google.protobuf.Empty',
}

export function memoryInstance(): Instance {
  const blobs = alwaysHoldingEmptyBlob(memoryStore())
  return { blobs, uploads: blobs, actions: onlyComplete(blobs)(memoryActionCache()), unnamedFunction: 'sha256' }
}

export const TRUE = { arguments: ['/bin/true'], platform: { properties: [{ name: 'OSFamily', value: 'linux' }] } }

async function storeAction(instance: Instance, { command = TRUE, action = {}, root = {} }: ActionParts = {}) {
  const commandBytes = encoded('Command', command)
  const rootBytes = encoded('Directory', root)
  const actionBytes = encoded('Action', {
    commandDigest: nameOf(commandBytes),
    inputRootDigest: nameOf(rootBytes),
    ...action,
  })
  await put(instance.blobs, commandBytes, rootBytes, actionBytes)
  return { actionDigest: nameOf(actionBytes) }
}

function operationStream(call: ClientCall): OperationStream {
  const next = async (): Promise<OperationJson | undefined> => {
    const message = await call.next()
    return message && decoded<OperationJson>('google.longrunning.Operation', message)
  }
  call.trailers.catch(() => {})
  return {
    next,
    async rest() {
      const all: OperationJson[] = []
      for (let one = await next(); one !== undefined; one = await next()) all.push(one)
      return all
    },
    cancel: () => call.cancel(),
  }
}

/** The status of a refused call, with its details; throws when the call succeeded. */
export async function refusal(call: Promise<unknown>): Promise<StatusReport> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof GrpcError)) throw new Error(`it was not refused: ${error}`)
  const details = error.details === undefined ? [] : statusFromProto(error.details).details
  return { code: error.code, message: error.message, details }
}
