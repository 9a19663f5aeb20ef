import type { CallOptions, Channel } from '../../../grpc/channel.ts'
import type { ClientCall } from '../../../grpc/client-call.ts'
import { GrpcError, STATUS, type StatusCode } from '../../../grpc/status.ts'
import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Any } from '../../../wire/gen/google/protobuf/any.ts'
import { Status } from '../../../wire/gen/google/rpc/status.ts'
import { ensure, told as spelled, Unmet } from '../../unmet.ts'
import { EXECUTION_RPC } from './execution-rpcs.ts'
import { readTold, type Told } from './operation-message.ts'

/** What is to be run. Each order is an action of its own, that no server has seen. */
export interface Order {
  /** For /bin/sh, in portable words. */
  readonly script?: string
  /** Its $1, $2 and so on. */
  readonly args?: readonly string[]
  readonly command?: re.DeepPartial<re.Command>
  readonly action?: re.DeepPartial<re.Action>
  readonly root?: re.DeepPartial<re.Directory>
}

export type Wish = Partial<Omit<re.ExecuteRequest, 'actionDigest'>>

/** A stream of operations under way. */
export interface Following {
  /** Undefined at the end. */
  next(): Promise<Told | undefined>
  /** All that is still to come. */
  rest(): Promise<Told[]>
  /** The client goes away. */
  leave(): void
}

/** How an execution ended, in whichever way the server said so. */
export interface Ending {
  readonly code: StatusCode
  readonly message: string
  readonly details: readonly Any[]
  readonly all: readonly Told[]
  readonly last: Told | undefined
}

export interface Ran {
  readonly all: readonly Told[]
  readonly last: Told
  readonly response: re.ExecuteResponse
  readonly result: re.ActionResult
}

export interface Executions {
  /** Uploads an order; answers the digest of its action. */
  store(order: Order): Promise<re.Digest>
  open(actionDigest: re.Digest | undefined, wish?: Wish, options?: CallOptions): Following
  /** Bytes as they are, for messages that no codec would make. */
  openRaw(message: Uint8Array): Following
  wait(name: string): Following
  /** Executes to the end, whatever it is. */
  end(following: Following): Promise<Ending>
  /** Executes an order, or the action of this digest, to its result; anything else is a failure. */
  run(order: Order | re.Digest, wish?: Wish, options?: CallOptions): Promise<Ran>
  /** Uploads, executes, and tells how it ended. */
  try(order: Order | re.Digest, wish?: Wish): Promise<Ending>
}

export interface ExecutionsOptions {
  readonly channel: Channel
  readonly signal: AbortSignal
  readonly instance: string
  readonly digestFunction: re.DigestFunction_Value
  readonly store: (order: Order) => Promise<re.Digest>
}

export function executions({ channel, signal, instance, digestFunction, store }: ExecutionsOptions): Executions {
  const follow = (path: string, message: Uint8Array, options: CallOptions = {}): Following =>
    following(channel.serverStreaming(path, message, { signal, ...options }))
  const open: Executions['open'] = (actionDigest, wish, options) => {
    const whole = re.ExecuteRequest.fromPartial({ instanceName: instance, digestFunction, ...wish })
    const { path, encode } = EXECUTION_RPC.execute
    return follow(path, encode({ ...whole, actionDigest }), options)
  }
  const digestOf = async (order: Order | re.Digest) => ('hash' in order ? order : await store(order))
  return {
    store,
    open,
    openRaw: (message) => follow(EXECUTION_RPC.execute.path, message),
    wait: (name) => follow(EXECUTION_RPC.waitExecution.path, EXECUTION_RPC.waitExecution.encode({ name })),
    end: endOf,
    run: async (order, wish, options) => await ranTo(open(await digestOf(order), wish, options)),
    try: async (order, wish) => await endOf(open(await digestOf(order), wish)),
  }
}

function following(call: ClientCall): Following {
  call.trailers.catch(() => {})
  const next = async (): Promise<Told | undefined> => {
    const message = await call.next()
    return message && readTold(message)
  }
  return {
    next,
    async rest() {
      const all: Told[] = []
      for (let one = await next(); one !== undefined; one = await next()) all.push(one)
      return all
    },
    leave: () => call.cancel(),
  }
}

/** A refusal may be the status of the call, or that of its last message: clients take either. */
async function endOf(stream: Following): Promise<Ending> {
  const all: Told[] = []
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
export async function ranTo(stream: Following): Promise<Ran> {
  const { code, message, all, last } = await endOf(stream)
  const response = last?.response
  if (code !== STATUS.ok) throw new Unmet('the action to be run', spelled(new GrpcError(code, message)))
  ensure(last?.done === true, 'a last message that is done', last === undefined ? 'no message' : 'one that is not')
  ensure(response?.result !== undefined, 'a response with a result', response === undefined ? 'no response' : 'none')
  return { all, last, response, result: response.result }
}
