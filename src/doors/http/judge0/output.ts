import type { StageStream } from '../../../model/command-task.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { outputText } from '../../../services/snippets/output-text.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { isProject, projectCompile } from './project.ts'

/** The output of the program and of its compiler; null when empty. */
export interface Judge0Output {
  readonly stdout: Buffer | null
  readonly stderr: Buffer | null
  readonly compileOutput: Buffer | null
}

export interface Judge0OutputOptions {
  readonly blobs: BlobStore
  /** Limit for each stream. */
  readonly mostBytes: number
}

export async function judge0OutputOf(
  { result, request }: SnippetStatus,
  isMixed: boolean,
  options: Judge0OutputOptions,
): Promise<Judge0Output> {
  const compiled = result?.stages.find(({ name }) => name === 'compile')
  const ran = result?.stages.find(({ name }) => name !== 'compile')
  const project = result && isProject(request.files) ? projectCompile(result).output : undefined
  const [stdout, stderr] = [await bytesOf(ran?.stdout, options), await bytesOf(ran?.stderr, options)]
  const compileOutput = [compiled?.stdout, compiled?.stderr, project]
  return {
    stdout: orNull(isMixed ? Buffer.concat([stdout, stderr]) : stdout),
    stderr: isMixed ? null : orNull(stderr),
    compileOutput: orNull(Buffer.concat(await Promise.all(compileOutput.map((stream) => bytesOf(stream, options))))),
  }
}

async function bytesOf(stream: StageStream | undefined, { blobs, mostBytes }: Judge0OutputOptions): Promise<Buffer> {
  if (stream === undefined) return Buffer.alloc(0)
  if (stream.digest === undefined) return Buffer.from((stream.inline ?? new Uint8Array()).subarray(0, mostBytes))
  return Buffer.from((await outputText(stream, { encoding: 'base64', mostBytes, blobs })).text, 'base64')
}

const orNull = (bytes: Buffer): Buffer | null => (bytes.length === 0 ? null : bytes)
