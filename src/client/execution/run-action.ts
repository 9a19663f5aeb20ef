import type { Digest } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import type { ActionResult } from '../../model/action-result.ts'
import type { EnvVariable, PlatformProperty } from '../../model/command.ts'
import { type StatusReport, statusFromProto } from '../../wire/google/status.ts'
import { actionFieldsToProto, commandFieldsToProto } from '../../wire/reapi/action-fields.ts'
import { actionResultFromProto } from '../../wire/reapi/action-result.ts'
import type { ExecutionResponse } from '../../wire/reapi/execution.ts'
import type { CasClient } from '../cas/cas-client.ts'
import { uploader } from '../cas/cas-upload.ts'
import { bufferBlob } from '../cas/local-blob.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { fromServer } from '../connection/server-fault.ts'
import { type Inputs, STDIN_FILE, type UploadedInputs, uploadInput } from '../trees/upload-input.ts'

/** A shell opens the file, and becomes the command. */
const FROM_FILE = ['/bin/sh', '-c', `exec "$0" "$@" <${STDIN_FILE}`]

/** An action to run. */
export interface ActionRunOptions extends Inputs {
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  readonly platform: readonly PlatformProperty[]
  readonly outputPaths: readonly string[]
  readonly timeoutMs: number | undefined
  readonly doNotCache: boolean
}

export interface PreparedAction {
  readonly actionDigest: Digest
  readonly inputs: UploadedInputs
}

/** Sends the action with all that it refers to, as far as the server has not got it. */
export async function prepareAction(
  order: ActionRunOptions,
  { client, meter }: { readonly client: CasClient; readonly meter: TransferMeter },
): Promise<PreparedAction> {
  const { fn } = client
  const uploads = uploader({ client, meter, compress: true, inChunks: true })
  const inputs = await uploadInput(order, { fn, uploads })
  const add = async (name: string, bytes: Uint8Array): Promise<Digest> => {
    const digest = digestOf(fn, bytes)
    await uploads.add(bufferBlob(name, digest, bytes))
    return digest
  }
  const argv = order.stdin === undefined ? order.argv : [...FROM_FILE, ...order.argv]
  const commandDigest = await add('the command', commandFieldsToProto({ ...order, argv }))
  const actionDigest = await add(
    'the action',
    actionFieldsToProto({ ...order, commandDigest, inputRootDigest: inputs.root }),
  )
  await uploads.finish()
  return { actionDigest, inputs }
}

/** The end of an action: a result, or the reason why there is none. Exit code 1 is a result. */
export type ActionEnd =
  | { readonly kind: 'result'; readonly result: ActionResult; readonly cached: boolean }
  /** With its output until then, where the server sends it. */
  | { readonly kind: 'timeout' | 'cancelled'; readonly message: string; readonly result: ActionResult | undefined }
  | { readonly kind: 'failed'; readonly code: number; readonly message: string }
  /** An uploaded blob was evicted. */
  | { readonly kind: 'missing'; readonly message: string }

export function actionEnd({ status, result, cached, message }: ExecutionResponse, { fn }: Digest): ActionEnd {
  const read = (): ActionResult | undefined =>
    result && fromServer((bytes: Uint8Array) => actionResultFromProto(bytes, fn))(result)
  const text = status.message || message
  if (status.code === STATUS.deadlineExceeded) return { kind: 'timeout', message: text, result: read() }
  if (status.code === STATUS.cancelled) return { kind: 'cancelled', message: text, result: read() }
  if (status.code !== STATUS.ok) return refusal(status, text)
  const whole = read()
  return whole === undefined
    ? {
        kind: 'failed',
        code: STATUS.internal,
        message: 'the server reported the end of the operation without a result',
      }
    : { kind: 'result', result: whole, cached }
}

/** A status of the action, not of the call. */
const ABOUT_ACTION: ReadonlySet<number> = new Set([
  STATUS.invalidArgument,
  STATUS.failedPrecondition,
  STATUS.resourceExhausted,
])

/** The same for a call that failed; undefined when the status is not about the action. */
export function callEnd(error: unknown): ActionEnd | undefined {
  if (!(error instanceof GrpcError) || !ABOUT_ACTION.has(error.code)) return undefined
  const details = error.details === undefined ? [] : statusFromProto(error.details).details
  return refusal({ code: error.code, message: error.message, details }, error.message)
}

function refusal({ code, details }: StatusReport, message: string): ActionEnd {
  const isMissing = details.some(
    (detail) => detail.kind === 'PreconditionFailure' && detail.violations.some(({ type }) => type === 'MISSING'),
  )
  return isMissing ? { kind: 'missing', message } : { kind: 'failed', code, message }
}
