import type { ServerCall } from '../../../../grpc/service.ts'
import { GrpcError, type StatusCode } from '../../../../grpc/status.ts'
import {
  Action,
  type ActionResult,
  Command,
  Directory,
  type ExecuteRequest,
  type ExecuteResponse,
} from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Status } from '../../../../wire/gen/google/rpc/status.ts'
import type { OperationMessage } from '../../probe/operation-message.ts'
import type { ProxyMethods, UpstreamServer } from './proxy.ts'

/** One defect: replacements for the methods that do not forward correctly. */
export type Detour = (right: UpstreamServer) => Partial<ProxyMethods>

export const brokenOnPurpose = (code: StatusCode): GrpcError => new GrpcError(code, 'broken on purpose')

export function fails(code: StatusCode): never {
  throw brokenOnPurpose(code)
}

type Streaming = 'execute' | 'waitExecution'
type StreamOf<Name extends Streaming> = (
  request: Parameters<ProxyMethods[Name]>[0],
  call: ServerCall,
  right: UpstreamServer,
) => AsyncIterable<OperationMessage>

export const streaming =
  <Name extends Streaming>(name: Name, method: StreamOf<Name>): Detour =>
  (right) => ({
    [name]: (request: Parameters<ProxyMethods[Name]>[0], call: ServerCall) => method(request, call, right),
  })

export const executing = (method: StreamOf<'execute'>): Detour => streaming('execute', method)

/** Rejects matching requests and forwards all others. */
export const refusing = (isSo: (request: ExecuteRequest, call: ServerCall) => boolean, code: StatusCode): Detour =>
  executing(async function* (request, call, { methods }) {
    if (isSo(request, call)) fails(code)
    yield* methods.execute(request, call)
  })

export const changingRequest = (change: (request: ExecuteRequest) => ExecuteRequest): Detour =>
  executing((request, call, { methods }) => methods.execute(change(request), call))

type Change<T> = (value: T, message: OperationMessage, index: number) => T

/** Changes every message of a stream. */
export const changingMessages = (
  change: (message: OperationMessage, index: number) => OperationMessage,
  name: Streaming = 'execute',
): Detour =>
  streaming(name, async function* (request, call, { methods }) {
    let index = 0
    for await (const message of methods[name](request as never, call)) yield change(message, index++)
  })

/** Changes the final response. */
export const changingResponse = (change: Change<ExecuteResponse>): Detour =>
  changingMessages((message, index) =>
    message.response ? { ...message, response: change(message.response, message, index) } : message,
  )

export const changingResult = (change: (result: ActionResult) => Partial<ActionResult>): Detour =>
  changingResponse((response) =>
    response.result ? { ...response, result: { ...response.result, ...change(response.result) } } : response,
  )

/** Changes the status code of the call or of the response. */
export const recoded = (from: StatusCode, to: StatusCode, name: Streaming = 'execute'): Detour =>
  streaming(name, async function* (request, call, { methods }) {
    try {
      for await (const message of methods[name](request as never, call)) {
        const { response } = message
        const isSo = response?.status?.code === from
        yield isSo ? { ...message, response: { ...response, status: Status.fromPartial({ code: to }) } } : message
      }
    } catch (error) {
      throw error instanceof GrpcError && error.code === from ? brokenOnPurpose(to) : error
    }
  })

/** An action with its command and input root. */
export interface StoredAction {
  readonly action: Action
  readonly command: Command
  readonly root: Directory
}

type Misled = (work: StoredAction, count: number) => Partial<StoredAction>

/** Runs another action than the requested one and reports it as the requested one. */
export const changingAction = (change: Misled): Detour => {
  let count = 0
  return executing(async function* (request, call, right) {
    const actionDigest = await alter(await readStoredAction(request, right), (work) => change(work, count++), right)
    for await (const message of right.methods.execute({ ...request, actionDigest }, call)) {
      yield { ...message, metadata: { ...message.metadata, actionDigest: request.actionDigest } }
    }
  })
}

export async function readStoredAction(
  { actionDigest }: ExecuteRequest,
  { blob }: UpstreamServer,
): Promise<StoredAction> {
  const action = Action.decode(await blob(actionDigest))
  const command = Command.decode(await blob(action.commandDigest))
  return { action, command, root: Directory.decode(await blob(action.inputRootDigest)) }
}

export async function alter(
  work: StoredAction,
  change: (work: StoredAction) => Partial<StoredAction>,
  { store }: UpstreamServer,
) {
  const { action, command, root } = { ...work, ...change(work) }
  const commandDigest = await store(Command.encode(command).finish())
  const inputRootDigest = await store(Directory.encode(root).finish())
  return await store(Action.encode({ ...action, commandDigest, inputRootDigest }).finish())
}

export const changingCommand = (change: (command: Command) => Partial<Command>): Detour =>
  changingAction(({ command }) => ({ command: { ...command, ...change(command) } }))

export const changingRoot = (change: (root: Directory) => Partial<Directory>): Detour =>
  changingAction(({ root }) => ({ root: { ...root, ...change(root) } }))

/** Runs the command inside another script, as its "$@". */
export const wrapped = (script: string): Detour =>
  changingCommand(({ arguments: argv }) => ({ arguments: ['/bin/sh', '-c', script, 'sh', ...argv] }))

/** Reads the stream of an execution to its end. */
export async function allMessages(stream: AsyncIterable<OperationMessage>): Promise<OperationMessage[]> {
  const all: OperationMessage[] = []
  for await (const message of stream) all.push(message)
  return all
}
