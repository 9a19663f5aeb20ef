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
  /** For /bin/sh, in portable words. */
  readonly script?: string
  /** Its $1, $2 and so on. */
  readonly args?: readonly string[]
  readonly command?: re.DeepPartial<re.Command>
  readonly action?: re.DeepPartial<re.Action>
  readonly root?: re.DeepPartial<re.Directory>
}

export type ExecuteFields = Partial<Omit<re.ExecuteRequest, 'actionDigest'>>

/** A stream of operations under way. */
export interface OperationStream {
  /** Undefined at the end. */
  next(): Promise<OperationMessage | undefined>
  /** All that is still to come. */
  rest(): Promise<OperationMessage[]>
  /** Cancels the call, as a client does that disconnects. */
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
  /** Bytes as they are, for messages that no codec would make. */
  openRaw(message: Uint8Array): OperationStream
  wait(name: string): OperationStream
  /** Executes to the end, whatever it is. */
  end(following: OperationStream): Promise<ExecutionEnd>
  /** Executes an action, or the action of this digest, to its result; anything else is a failure. */
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

/** A refusal may be the status of the call, or that of its last message: clients take either. */
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

/** The result of an execution that went well. */
export async function completed(stream: OperationStream): Promise<CompletedExecution> {
  const { code, message, all, last } = await endOf(stream)
  const response = last?.response
  if (code !== STATUS.ok) throw new Unmet('the action to be run', spelled(new GrpcError(code, message)))
  ensure(last?.done === true, 'a last message that is done', last === undefined ? 'no message' : 'one that is not')
  ensure(response?.result !== undefined, 'a response with a result', response === undefined ? 'no response' : 'none')
  return { all, last, response, result: response.result }
}
