import type { ServerCall } from '../../../../grpc/service.ts'
import { STATUS } from '../../../../grpc/status.ts'
import { type Digest, RequestMetadata } from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { type OperationMessage, STAGE } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import {
  allMessages,
  changingMessages,
  changingResponse,
  changingResult,
  type Detour,
  executing,
  fails,
  refusing,
} from './detour.ts'

const HEADER = 'build.bazel.remote.execution.v2.requestmetadata-bin'
const WRONG = Buffer.from('not what was written')
const MiB = 1024 * 1024

const onlyTheLast = executing(async function* (request, call, { methods }) {
  yield* (await allMessages(methods.execute(request, call))).slice(-1)
})

const namesInARow: Detour = (right) => {
  let count = 0
  return {
    async *execute(request, call) {
      const name = `operations/00000000-${count++}`
      for await (const message of right.methods.execute(request, call)) yield { ...message, name }
    },
  }
}

const endsTwice = executing(async function* (request, call, { methods }) {
  for await (const message of methods.execute(request, call)) {
    yield message
    if (message.done) yield message
  }
})

const withMetadata = (
  change: (metadata: OperationMessage['metadata']) => Partial<OperationMessage['metadata']>,
): Detour =>
  changingMessages((message) => ({ ...message, metadata: { ...message.metadata, ...change(message.metadata) } }))

const errorsOutside = changingMessages((message) =>
  message.response !== undefined && (message.response.result?.exitCode !== 0 || message.response.status?.code !== 0)
    ? { ...message, response: undefined, error: { code: STATUS.unknown, message: 'it failed', details: [] } }
    : message,
)

const truncated = executing(async function* (request, call, { methods, blob }) {
  for await (const message of methods.execute(request, call)) {
    const digest: Digest | undefined = message.response?.result?.stdoutDigest
    const isLarge = message.response?.result !== undefined && (digest?.sizeBytes ?? 0) > MiB
    if (!isLarge) yield message
    else {
      const { response } = message
      const stdoutRaw = (await blob(digest)).subarray(0, MiB)
      yield { ...message, response: { ...response, result: { ...response?.result, stdoutRaw } } } as OperationMessage
    }
  }
})

const headerOf = ({ metadata }: ServerCall): Uint8Array | undefined => metadata.getBinary(HEADER)[0]

function isMetadata(bytes: Uint8Array): boolean {
  try {
    return RequestMetadata.decode(bytes).toolInvocationId !== ''
  } catch {
    return false
  }
}

export const executeBreaks = {
  'execute.runs': executing(() => fails(STATUS.unimplemented)),
  'execute.first-at-once': onlyTheLast,
  'execute.name-given': changingMessages((message) => ({ ...message, name: '' })),
  'execute.name-stable': changingMessages((message, index) => ({ ...message, name: `${message.name}${index}` })),
  'execute.name-unguessable': namesInARow,
  'execute.stages-known': withMetadata(({ stage }) => (stage === STAGE.completed ? {} : { stage: 0 })),
  'execute.stage-executing': withMetadata(({ stage }) => (stage === STAGE.executing ? { stage: STAGE.queued } : {})),
  'execute.done-when-completed': withMetadata(({ stage }) =>
    stage === STAGE.completed ? { stage: STAGE.executing } : {},
  ),
  'execute.done-is-last': endsTwice,
  'execute.metadata-type': changingMessages((message) => ({ ...message, metadataType: 'ExecuteOperationMetadata' })),
  'execute.response-type': changingMessages((message) => ({ ...message, responseType: 'ExecuteResponse' })),
  'execute.metadata-action': withMetadata(() => ({ actionDigest: undefined })),
  'execute.metadata-function': withMetadata(() => ({ digestFunction: 0 })),
  'execute.no-operation-error': errorsOutside,
  'execute.stdout': changingResult(({ stdoutRaw, stdoutDigest }) =>
    stdoutRaw.length > 0 || stdoutDigest !== undefined ? { stdoutRaw: WRONG } : {},
  ),
  'execute.stderr': changingResult(() => ({ stderrRaw: new Uint8Array(), stderrDigest: undefined })),
  'execute.large-stdout': truncated,
  'execute.exit-code': changingResponse((response) =>
    response.result?.exitCode === 0
      ? response
      : { ...response, status: { code: STATUS.unknown, message: 'it failed', details: [] } },
  ),
  'execute.failed-outputs': changingResult(({ exitCode }) => (exitCode === 0 ? {} : { outputFiles: [] })),
  'execute.status-message': changingResponse((response) => ({
    ...response,
    status: { code: response.status?.code ?? 0, message: '', details: [] },
  })),
  'execute.server-logs': changingResponse((response) => ({
    ...response,
    serverLogs: { '../../log': { digest: response.result?.stdoutDigest, humanReadable: true } },
  })),
  'execute.unknown-fields-ignored': () => ({ refusesUnknownFields: true }),
  'execute.request-metadata': refusing((_, call) => isMetadata(headerOf(call) ?? WRONG), STATUS.invalidArgument),
  'execute.garbage-metadata': refusing(
    (_, call) => headerOf(call) !== undefined && !isMetadata(headerOf(call) ?? WRONG),
    STATUS.invalidArgument,
  ),
  'execute.inline-stdout': changingResult(({ stdoutRaw, stdoutDigest }) =>
    stdoutRaw.length > 0 || stdoutDigest !== undefined ? { stdoutRaw: WRONG } : {},
  ),
  'execute.inline-files': changingResult(({ outputFiles }) => ({
    outputFiles: outputFiles.map((file) => ({ ...file, contents: WRONG })),
  })),
  'execute.functions': refusing(({ actionDigest }) => actionDigest?.hash.length === 40, STATUS.invalidArgument),
  'execute.priority': refusing(({ executionPolicy }) => (executionPolicy?.priority ?? 0) !== 0, STATUS.invalidArgument),
  'execute.cache-priority': refusing(
    ({ resultsCachePolicy }) => resultsCachePolicy !== undefined,
    STATUS.invalidArgument,
  ),
} satisfies Partial<Record<ExecutionId, Detour>>
