import { GrpcError, STATUS } from '../../grpc/status.ts'
import type { RequestMetadata } from '../../model/request-metadata.ts'
import {
  type ExecuteRequest,
  type ExecutionOperation,
  executeRequestToProto,
  executionOperationFromProto,
  REQUEST_METADATA_HEADER,
  requestMetadataToProto,
  waitExecutionRequestToProto,
} from '../../wire/reapi/execution.ts'
import { formatOperationName } from '../../wire/reapi/operation-name.ts'
import type { Rpc, RpcClient } from '../connection/rpc.ts'
import { fromServer } from '../connection/server-fault.ts'

const EXECUTION = '/build.bazel.remote.execution.v2.Execution'

/** Copied, for what is in an operation is kept for longer than the buffer that it came in. */
const operationOf = fromServer((bytes) => executionOperationFromProto(Buffer.from(bytes)))

const EXECUTE: Rpc<ExecuteRequest, ExecutionOperation> = {
  path: `${EXECUTION}/Execute`,
  encode: executeRequestToProto,
  decode: operationOf,
}

const WAIT: Rpc<string, ExecutionOperation> = {
  path: `${EXECUTION}/WaitExecution`,
  encode: waitExecutionRequestToProto,
  decode: operationOf,
}

/** An operation's name, and nothing else, is in all requests about it. */
const CANCEL: Rpc<string, void> = {
  path: '/google.longrunning.Operations/CancelOperation',
  encode: waitExecutionRequestToProto,
  decode() {},
}

/** The operation name that the server gives to its clients. */
export const operationName = (instance: string, id: string): string => formatOperationName({ instance, id })

const CANCEL_MS = 5_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
/**
 * The client reconnects for this long, for example during a restart of the server. A server keeps an operation without
 * a client about as long.
 */
const PATIENCE_MS = 60_000
/** A server that forgets what it was asked, again and again, is not asked for ever. */
const MOST_FORGOTTEN = 3

export interface ExecutionOptions {
  readonly rpcs: RpcClient
  /** The client's description of itself, for the server's operators. */
  readonly about: RequestMetadata
  readonly monotonic: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly signal: AbortSignal
  /** The connection broke; it is tried again. */
  dropped(error: GrpcError): void
}

/** Runs actions on any server of the Remote Execution API. */
export interface ExecutionClient {
  /** How it fares, the end last. A connection that breaks is made again, and the operation followed where it was. */
  execute(request: ExecuteRequest): AsyncGenerator<ExecutionOperation>
  /** Follows an existing operation with WaitExecution. */
  attach(operation: string): AsyncGenerator<ExecutionOperation>
  /** Cancels only our own operation: other clients that wait for the same action keep theirs. */
  cancel(operation: string): Promise<void>
}

export function executionClient(options: ExecutionOptions): ExecutionClient {
  const metadata = { [REQUEST_METADATA_HEADER]: requestMetadataToProto(options.about) }
  return {
    execute: (request) => followed(request, undefined, { ...options, metadata }),
    attach: (operation) => followed(undefined, operation, { ...options, metadata }),
    // Without the signal: this runs after the signal was aborted.
    cancel: (operation) => options.rpcs.unary(CANCEL, operation, { timeoutMs: CANCEL_MS, metadata }),
  }
}

interface Following extends ExecutionOptions {
  readonly metadata: Readonly<Record<string, Uint8Array>>
}

async function* followed(
  request: ExecuteRequest | undefined,
  operation: string | undefined,
  options: Following,
): AsyncGenerator<ExecutionOperation> {
  const { signal, monotonic } = options
  const known: Known = { name: operation, forgotten: 0 }
  let heardAt = monotonic()
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    let failure = new GrpcError(STATUS.unavailable, 'the connection ended before the operation did')
    try {
      for await (const message of opened(request, known.name, options)) {
        known.name = message.name
        heardAt = monotonic()
        pauseMs = FIRST_PAUSE_MS
        yield message
        if (message.response !== undefined) return
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof GrpcError)) throw error
      if (!mayAskAgain(error, known, request !== undefined)) throw error
      failure = error
    }
    if (monotonic() - heardAt > PATIENCE_MS) throw failure
    options.dropped(failure)
    await unlessAborted(options.pause(pauseMs), signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }
}

interface Known {
  name: string | undefined
  forgotten: number
}

function opened(
  request: ExecuteRequest | undefined,
  name: string | undefined,
  { rpcs, signal, metadata }: Following,
): AsyncIterable<ExecutionOperation> {
  const call = { signal, metadata }
  if (request !== undefined && name === undefined) return rpcs.stream(EXECUTE, request, call)
  return rpcs.stream(WAIT, name ?? '', call)
}

/** An operation that the server does not know any more is asked for anew: what was done of it is in the cache, or lost. */
function mayAskAgain(error: GrpcError, known: Known, hasRequest: boolean): boolean {
  const isForgotten = hasRequest && known.name !== undefined && error.code === STATUS.notFound
  if (!isForgotten) return isPassing(error)
  known.name = undefined
  return ++known.forgotten <= MOST_FORGOTTEN
}

const isPassing = ({ code }: GrpcError): boolean => code === STATUS.unavailable || code === STATUS.cancelled

async function unlessAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  const left = Promise.withResolvers<never>()
  const leave = (): void => left.reject(new GrpcError(STATUS.cancelled, 'interrupted'))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    await Promise.race([wait, left.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
