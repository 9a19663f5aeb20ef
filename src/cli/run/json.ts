import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { CasClient } from '../../client/cas/cas-client.ts'
import type { ActionResult, OutputStream } from '../../model/action-result.ts'
import type { TransferTally } from '../output/progress.ts'
import { streamPieces } from '../output/streams.ts'
import type { Followed } from './follow.ts'

/** Longer output is printed as a digest, for `windlass cas get`. */
const MOST_TEXT = 1024 * 1024

/** The end of a run as JSON. */
export async function runJson(
  { action, end, operation, worker }: Followed,
  client: CasClient,
  { movedBlobs, movedBytes, heldBlobs, heldBytes }: TransferTally,
): Promise<string> {
  const result = 'result' in end ? end.result : undefined
  const fields = {
    action: formatDigest(action),
    operation: operation ?? null,
    end: end.kind,
    message: 'message' in end ? end.message : '',
    cached: end.kind === 'result' && end.cached,
    worker: result?.metadata?.worker || worker || null,
    exitCode: result?.exitCode ?? null,
    stdout: await streamJson(client, result?.stdout),
    stderr: await streamJson(client, result?.stderr),
    ...outputsJson(result),
    moved: { blobs: movedBlobs, bytes: movedBytes },
    held: { blobs: heldBlobs, bytes: heldBytes },
  }
  return `${JSON.stringify(fields)}\n`
}

const named = (digest: Digest | undefined): string | null => (digest === undefined ? null : formatDigest(digest))

async function streamJson(client: CasClient, stream: OutputStream | undefined): Promise<object> {
  const digest = named(stream?.digest)
  const isLong = stream?.raw === undefined && (stream?.digest?.size ?? 0) > MOST_TEXT
  if (stream === undefined || isLong) return { text: stream === undefined ? '' : null, digest }
  const pieces: Uint8Array[] = []
  for await (const piece of streamPieces(client, stream)) pieces.push(Buffer.from(piece))
  return { text: Buffer.concat(pieces).toString(), digest }
}

const outputsJson = (result: ActionResult | undefined): object => ({
  files: (result?.outputFiles ?? []).map(({ path, digest, executable }) => ({
    path,
    digest: named(digest),
    executable,
  })),
  directories: (result?.outputDirectories ?? []).map(({ path, treeDigest, rootDigest }) => ({
    path,
    tree: named(treeDigest),
    root: named(rootDigest),
  })),
  symlinks: (result?.outputSymlinks ?? []).map(({ path, target }) => ({ path, target })),
})
