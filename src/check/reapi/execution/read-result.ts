import { STATUS, STATUS_NAMES, type StatusCode } from '../../../grpc/status.ts'
import {
  type ActionResult,
  type Digest,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, Unmet } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import type { ExecutionEnd } from '../probe/executions.ts'
import type { Probe } from '../probe/probe.ts'

/** A shell expression whose value differs in each run. */
export const NONCE = 'od -An -N8 -tx1 /dev/urandom'

export const read = async ({ bytestream, names }: Probe, digest: Digest): Promise<Uint8Array> =>
  digest.sizeBytes === 0 ? new Uint8Array() : await bytestream.read(names.read(digest))

export const textBlob = ({ blobOf }: Probe, text: string): Blob => blobOf(Buffer.from(text))

export const putText = (probe: Probe, text: string): Promise<Blob> => probe.put(textBlob(probe, text))

/** Reads inlined content, or the blob of the digest: a server may send either. */
export async function stdoutOf(probe: Probe, { stdoutRaw, stdoutDigest }: ActionResult): Promise<Uint8Array> {
  return stdoutRaw.length > 0 || stdoutDigest === undefined ? stdoutRaw : await read(probe, stdoutDigest)
}

export async function stderrOf(probe: Probe, { stderrRaw, stderrDigest }: ActionResult): Promise<Uint8Array> {
  return stderrRaw.length > 0 || stderrDigest === undefined ? stderrRaw : await read(probe, stderrDigest)
}

export const stdoutText = async (probe: Probe, result: ActionResult): Promise<string> =>
  Buffer.from(await stdoutOf(probe, result)).toString()

/** Runs a script and returns its stdout. */
export async function runForStdout(probe: Probe, order: Parameters<Probe['executions']['run']>[0]): Promise<string> {
  const { result } = await probe.executions.run(order)
  ensure(result.exitCode === 0, 'exit code 0', `exit code ${result.exitCode}: ${await complaint(probe, result)}`)
  return stdoutText(probe, result)
}

const complaint = async (probe: Probe, result: ActionResult): Promise<string> =>
  Buffer.from(await stderrOf(probe, result))
    .toString()
    .slice(0, 300) || 'nothing on stderr'

export function findOutputFile({ outputFiles }: ActionResult, path: string) {
  const file = outputFiles.find((each) => each.path === path)
  if (file?.digest === undefined) throw new Unmet(`an output file ${path}`, listed(outputFiles))
  return { ...file, digest: file.digest }
}

export function findOutputDirectory({ outputDirectories }: ActionResult, path: string) {
  const directory = outputDirectories.find((each) => each.path === path)
  if (directory === undefined)
    throw new Unmet(`an output directory ${path || 'with the empty path'}`, listed(outputDirectories))
  return directory
}

export const listed = (items: readonly { readonly path: string }[]): string =>
  items.length === 0 ? 'none' : items.map(({ path }) => JSON.stringify(path)).join(', ')

export async function treeIn(probe: Probe, result: ActionResult, path: string): Promise<Tree> {
  const { treeDigest } = findOutputDirectory(result, path)
  if (treeDigest === undefined) throw new Unmet('a tree_digest', 'none')
  return Tree.decode(await read(probe, treeDigest))
}

/** The execution must end with this status, either of the call or of the response. */
export function endsWith(what: string, { code, message, last }: ExecutionEnd, ...wanted: readonly StatusCode[]): void {
  const seen =
    code === STATUS.ok ? `OK, exit code ${last?.response?.result?.exitCode ?? 'not given'}` : STATUS_NAMES[code]
  const names = wanted.map((each) => STATUS_NAMES[each]).join(' or ')
  ensure(
    wanted.includes(code),
    `${what} to be ${names}`,
    `${seen}${message === '' ? '' : `: ${message.slice(0, 300)}`}`,
  )
}
