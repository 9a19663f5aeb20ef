import type { Digest } from '../base/digest.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { OutputStream } from '../model/action-result.ts'
import type { CasClient } from './cas/cas-client.ts'
import { blobPieces } from './cas/cas-read.ts'
import { bufferBlob } from './cas/local-blob.ts'
import type { TransferMeter } from './cas/transfer-meter.ts'
import { allMessagesOf } from './connection/rpc.ts'
import type { ExecutionClient } from './execution/execution-client.ts'
import {
  type ActionEnd,
  type ActionRunOptions,
  actionEnd,
  callEnd,
  type PreparedAction,
  prepareAction,
} from './execution/run-action.ts'
import { changedOnly } from './trees/changed-only.ts'
import { downloadOutputs, outputPaths } from './trees/result-outputs.ts'

/** A command to run on the grid. */
export interface CommandRequest {
  /** The program and its arguments, without a shell. */
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A directory of this machine. It is uploaded and becomes the working directory; without it, that is empty. */
  readonly input?: string
  /** Uploads files that `.gitignore` and `.windlassignore` exclude, too. */
  readonly allFiles?: boolean
  readonly stdin?: string | Uint8Array
  /** The files and directories to download, relative to the working directory; `''` is all that the command changed. */
  readonly outputPaths?: readonly string[]
  /** The directory of this machine that the outputs are written to; required with `outputPaths`. */
  readonly outputDirectory?: string
  /** Properties that the worker must have, such as `OSFamily`. */
  readonly platform?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** `false` runs the command even when its result is cached, and does not cache the result. Default: `true`. */
  readonly cache?: boolean
  /** REAPI's priority: tasks with a lower number start first. Default: 0. */
  readonly priority?: number
}

/** The result of a command that ran to its end, whatever its exit code is. */
export interface CommandOutcome {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** The result came from the action cache. */
  readonly cached: boolean
  /** The output paths that the command created, and that are in `outputDirectory` now. */
  readonly outputs: readonly string[]
}

/** The grid has no result: the command timed out, was cancelled or could not be run. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  /** `missing`: the server evicted an input twice before the command could start. */
  readonly kind: 'timeout' | 'cancelled' | 'failed' | 'missing'

  constructor({ kind, message }: Exclude<ActionEnd, { kind: 'result' }>) {
    super(message)
    this.kind = kind
  }
}

export interface CommandTools {
  readonly client: CasClient
  readonly execution: ExecutionClient
  readonly instance: string
  readonly newId: () => string
  readonly meter: TransferMeter
  /** Aborting it cancels the command. */
  readonly signal: AbortSignal
}

/** Uploads the inputs, runs the command and downloads its outputs. A server may evict inputs early: then once more. */
export async function runRemoteCommand(request: CommandRequest, tools: CommandTools): Promise<CommandOutcome> {
  const order = orderOf(request, tools.client.fn)
  for (let isLast = false; ; isLast = true) {
    const prepared = await prepareAction(order, tools)
    const end = await executed(prepared.actionDigest, request, tools)
    if (end.kind === 'result') return await outcomeOf(end, prepared, { ...tools, request, order })
    if (end.kind !== 'missing' || isLast) throw new CommandFailed(end)
  }
}

function orderOf(request: CommandRequest, fn: CasClient['fn']): ActionRunOptions {
  const { argv, input, stdin, timeoutMs, outputDirectory } = request
  const requested = outputPaths(request.outputPaths ?? [])
  if (requested.length > 0 && outputDirectory === undefined) throw new TypeError('outputPaths needs an outputDirectory')
  const bytes = typeof stdin === 'string' ? Buffer.from(stdin) : stdin
  return {
    ...{ argv, input, timeoutMs, outputPaths: requested, allFiles: request.allFiles === true },
    env: pairsOf(request.env),
    platform: pairsOf(request.platform),
    stdin: bytes === undefined ? undefined : bufferBlob('standard input', digestOf(fn, bytes), bytes),
    doNotCache: request.cache === false,
  }
}

const pairsOf = (record: Readonly<Record<string, string>> = {}) =>
  Object.entries(record).map(([name, value]) => ({ name, value }))

async function executed(
  actionDigest: Digest,
  { cache = true, priority = 0 }: CommandRequest,
  { execution, instance, signal }: CommandTools,
): Promise<ActionEnd> {
  const inline = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: [] }
  const execute = { instance, actionDigest, skipCacheLookup: !cache, priority, cachePriority: 0, inline }
  let operation: string | undefined
  try {
    for await (const { name, response } of execution.execute(execute)) {
      operation = name
      if (response !== undefined) return actionEnd(response, actionDigest)
    }
  } catch (error) {
    if (signal.aborted && operation !== undefined) await execution.cancel(operation).catch(() => {})
    const end = callEnd(error)
    if (end === undefined) throw error
    return end
  }
  throw new Error('the operation ended without a response')
}

interface Collecting extends CommandTools {
  readonly request: CommandRequest
  readonly order: ActionRunOptions
}

async function outcomeOf(
  { result, cached }: Extract<ActionEnd, { kind: 'result' }>,
  { inputs }: PreparedAction,
  { client, newId, meter, request, order }: Collecting,
): Promise<CommandOutcome> {
  const into = request.outputDirectory
  const requested = new Set(order.outputPaths)
  const trim = changedOnly(inputs.directories)
  const outputs =
    into === undefined || requested.size === 0
      ? []
      : await downloadOutputs(client, { result, requested, into, trim, unsafeLinks: false, newId, meter })
  const bytesOf = async ({ raw, digest }: OutputStream): Promise<Uint8Array> =>
    raw ??
    (digest === undefined ? new Uint8Array() : Buffer.concat(await allMessagesOf(blobPieces(client, digest, meter))))
  return {
    exitCode: result.exitCode,
    stdout: await bytesOf(result.stdout),
    stderr: await bytesOf(result.stderr),
    cached,
    outputs: [...outputs],
  }
}
