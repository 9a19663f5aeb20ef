import type { Digest } from '../../../base/digest.ts'
import type { CommandResult } from '../../../model/command-task.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { ApiProblem } from '../../../services/snippets/snippet-problem.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { type BodyOutlet, outgoingPieces } from '../server/outgoing-pieces.ts'

/** The prefix of the paths of whole stage outputs. No output file of a task can have it. */
const STREAMS = '.windlass/'

/** Sends a file that the task made, or the output of one of its stages: `.windlass/run.stdout`. */
export async function artifactResponse(
  { result }: SnippetStatus,
  path: string,
  { blobs, outlet, signal }: { blobs: BlobStore; outlet: BodyOutlet; signal: AbortSignal },
): Promise<Response> {
  const found = result && (path.startsWith(STREAMS) ? streamNamed(result, path) : fileNamed(result, path))
  if (found === undefined) throw new ApiProblem('noArtifact', `There is no ${path.slice(0, 200)}`)
  const headers = headersFor(path)
  if (found instanceof Uint8Array)
    return new Response(Uint8Array.from(found), { headers: { ...headers, 'content-length': String(found.length) } })
  const reader = await blobs.read(found, { offset: 0 }, signal)
  if (reader === undefined) throw new ApiProblem('noArtifact', `${path.slice(0, 200)} is not kept any more`)
  return new Response(outgoingPieces(reader.pieces, outlet), {
    headers: { ...headers, 'content-length': String(found.size), etag: `"${found.hash}"` },
  })
}

const fileNamed = ({ outputs }: CommandResult, path: string): Digest | undefined =>
  outputs.files.find((file) => file.path === path)?.digest

function streamNamed({ stages }: CommandResult, path: string): Digest | Uint8Array | undefined {
  for (const { name, stdout, stderr } of stages) {
    if (path === `${STREAMS}${name}.stdout`) return stdout.digest ?? stdout.inline ?? new Uint8Array()
    if (path === `${STREAMS}${name}.stderr`) return stderr.digest ?? stderr.inline ?? new Uint8Array()
  }
  return undefined
}

/** An untrusted program wrote the file: the browser must save it and not show it as a page of this server. */
const headersFor = (path: string): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(path.split('/').at(-1) ?? '')}`,
})
