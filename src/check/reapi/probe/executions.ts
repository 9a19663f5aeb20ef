import type { CallOptions } from '../../../grpc/client/call-options.ts'
import type { Channel } from '../../../grpc/client/channel.ts'
import type { ClientCall } from '../../../grpc/client/client-call.ts'
import { GrpcError, STATUS, type StatusCode } from '../../../grpc/status.ts'
import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Any } from '../../../wire/gen/google/protobuf/any.ts'
import { Status } from '../../../wire/gen/google/rpc/status.ts'
import { ensure, statusText as spelled, Unmet } from '../../unmet.ts'
import { EXECUTION_RPC } from './execution-rpcs.ts'
import { decodeOperation, type OperationMessage } from './operation-message.ts'

/** An action that a check runs. Its salt is random, so that no server has seen it before. */
export interface TestAction {
  /** A portable /bin/sh script. */
  readonly script?: string
  /** Its $1, $2 and so on. */
  readonly args?: readonly string[]
  readonly command?: re.DeepPartial<re.Command>
  readonly action?: re.DeepPartial<re.Action>
  readonly root?: re.DeepPartial<re.Directory>
}

export type ExecuteFields = Partial<Omit<re.ExecuteRequest, 'actionDigest'>>

/** An open stream of operations. */
export interface OperationStream {
  /** Undefined at the end. */
  next(): Promise<OperationMessage | undefined>
  /** The remaining messages. */
  rest(): Promise<OperationMessage[]>
  /** Cancels the call, like a client that disconnects. */
  close(): void
}

/** The end of an execution, reported by the call's status or by the response. */
export interface ExecutionEnd {
  readonly code: StatusCode
  readonly message: string
  readonly details: readonly Any[]
  readonly all: readonly OperationMessage[]
  readonly last: OperationMessage | undefined
}

export interface CompletedExecution {
  readonly all: readonly OperationMessage[]
  readonly last: OperationMessage
  readonly response: re.ExecuteResponse
  readonly result: re.ActionResult
}

export interface Executions {
  /** Uploads an action with its inputs and returns its digest. */
  store(action: TestAction): Promise<re.Digest>
  open(actionDigest: re.Digest | undefined, request?: ExecuteFields, options?: CallOptions): OperationStream
  /** Sends raw bytes, for messages that no codec can produce. */
  openRaw(message: Uint8Array): OperationStream
  wait(name: string): OperationStream
  /** Executes until the stream ends, with any result. */
  end(following: OperationStream): Promise<ExecutionEnd>
  /** Executes an action, or the action with this digest, and returns its result. Any other end fails the check. */
  run(action: TestAction | re.Digest, request?: ExecuteFields, options?: CallOptions): Promise<CompletedExecution>
  /** Uploads and executes the action, and returns how it ended. */
  try(action: TestAction | re.Digest, request?: ExecuteFields): Promise<ExecutionEnd>
}

export interface ExecutionsOptions {
  readonly channel: Channel
  readonly signal: AbortSignal
  readonly instance: string
  readonly digestFunction: re.DigestFunction_Value
  readonly store: (action: TestAction) => Promise<re.Digest>
}

export function executions({ channel, signal, instance, digestFunction, store }: ExecutionsOptions): Executions {
  const follow = (path: string, message: Uint8Array, options: CallOptions = {}): OperationStream =>
    following(channel.serverStreaming(path, message, { signal, ...options }))
  const open: Executions['open'] = (actionDigest, request, options) => {
    const whole = re.ExecuteRequest.fromPartial({ instanceName: instance, digestFunction, ...request })
    const { path, encode } = EXECUTION_RPC.execute
    return follow(path, encode({ ...whole, actionDigest }), options)
  }
  const digestOf = async (action: TestAction | re.Digest) => ('hash' in action ? action : await store(action))
  return {
    store,
    open,
    openRaw: (message) => follow(EXECUTION_RPC.execute.path, message),
    wait: (name) => follow(EXECUTION_RPC.waitExecution.path, EXECUTION_RPC.waitExecution.encode({ name })),
    end: endOf,
    run: async (action, request, options) => await completed(open(await digestOf(action), request, options)),
    try: async (action, request) => await endOf(open(await digestOf(action), request)),
  }
}

function following(call: ClientCall): OperationStream {
  call.trailers.catch(() => {})
  const next = async (): Promise<OperationMessage | undefined> => {
    const message = await call.next()
    return message && decodeOperation(message)
  }
  return {
    next,
    async rest() {
      const all: OperationMessage[] = []
      for (let one = await next(); one !== undefined; one = await next()) all.push(one)
      return all
    },
    close: () => call.cancel(),
  }
}

/** An error may be the status of the call or of its last message; clients accept both. */
async function endOf(stream: OperationStream): Promise<ExecutionEnd> {
  const all: OperationMessage[] = []
  try {
    for (let one = await stream.next(); one !== undefined; one = await stream.next()) all.push(one)
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    const details = error.details === undefined ? [] : Status.decode(error.details).details
    return { code: error.code, message: error.message, details, all, last: all.at(-1) }
  }
  const last = all.at(-1)
  const { code = STATUS.ok, message = '', details = [] } = last?.response?.status ?? last?.error ?? {}
  return { code: code as StatusCode, message, details, all, last }
}

/** The result of a successful execution. */
export async function completed(stream: OperationStream): Promise<CompletedExecution> {
  const { code, message, all, last } = await endOf(stream)
  const response = last?.response
  if (code !== STATUS.ok) throw new Unmet('the action to be executed', spelled(new GrpcError(code, message)))
  ensure(
    last?.done === true,
    'a last message with done',
    last === undefined ? 'no message' : 'a last message without done',
  )
  ensure(response?.result !== undefined, 'a response with a result', response === undefined ? 'no response' : 'none')
  return { all, last, response, result: response.result }
}
