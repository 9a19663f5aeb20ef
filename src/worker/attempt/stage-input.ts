import { createReadStream } from 'node:fs'
import type { StageInput } from '../../model/command-task.ts'
import type { StagedInputs } from '../inputs/stage-inputs.ts'

/**
 * The standard input of a stage. Writes nothing before `started` resolves, because the program would not receive it.
 */
export async function* inputAfter(
  started: Promise<void>,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  await started
  yield* input
}

/** A blob is read from the worker's cache, which verified it and holds it. */
export function recordedInput(
  input: Exclude<StageInput, { kind: 'live' }>,
  staged: StagedInputs,
): AsyncIterable<Uint8Array> {
  if (input.kind === 'inline') return once(input.bytes)
  const path = staged.pathOf(input.digest)
  return path === undefined ? once(new Uint8Array()) : piecesOf(path)
}

/** The first read opens the file, because a stage that cannot be started never reads. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
