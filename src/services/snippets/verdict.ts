import { FaultError } from '../../base/fault.ts'
import type { CommandResult, StageCause, StageStream } from '../../model/command-task.ts'
import type { SnippetStatus, Verdict } from '../../model/snippet.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { printedHash } from './printed-hash.ts'

const BY_CAUSE: Readonly<Partial<Record<StageCause, Verdict>>> = {
  timeout: 'time-limit',
  'cpu-time': 'time-limit',
  'out-of-memory': 'memory-limit',
  'output-limit': 'output-limit',
}

/** The verdict on an ended snippet with an expected output; undefined when it was cancelled. */
export async function verdictOf(
  { state, result }: SnippetStatus,
  expectedHash: string,
  blobs: () => BlobStore,
): Promise<Verdict | undefined> {
  if (state === 'cancelled') return undefined
  if (result === undefined) return state === 'timeout' ? 'time-limit' : 'internal-error'
  return failedBy(result) ?? (await compared(result, expectedHash, blobs))
}

function failedBy({ stages }: CommandResult): Verdict | undefined {
  const last = stages.at(-1)
  if (last === undefined || last.cause === 'ok') return undefined
  // A compile error is the author's; the compiler's output explains it.
  if (last.name === 'compile') return 'compile-error'
  return BY_CAUSE[last.cause] ?? 'runtime-error'
}

async function compared(result: CommandResult, expectedHash: string, blobs: () => BlobStore): Promise<Verdict> {
  const printed = result.stages.at(-1)?.stdout
  if (printed === undefined) return 'internal-error'
  if (printed.droppedBytes > 0) return 'output-limit' // lost output cannot be compared
  const hash = await hashOfStream(printed, blobs)
  if (hash === undefined) return 'internal-error'
  return hash === expectedHash ? 'accepted' : 'wrong-answer'
}

/** Undefined when the output is no longer stored. */
async function hashOfStream({ inline, digest }: StageStream, blobs: () => BlobStore): Promise<string | undefined> {
  const hash = printedHash()
  if (digest === undefined) {
    hash.add(inline ?? new Uint8Array())
    return hash.end()
  }
  try {
    const reader = await blobs().read(digest, { offset: 0 })
    if (reader === undefined) return undefined
    for await (const piece of reader.pieces) hash.add(piece)
    return hash.end()
  } catch (error) {
    if (error instanceof FaultError) return undefined
    throw error
  }
}
