import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { WorkerDesk } from '../../engine/worker-desk.ts'
import type { AttemptReport } from '../../engine/worker-session.ts'
import type { ActionResult } from '../../model/action-result.ts'
import { actionResultFromProto } from '../../wire/action-result.ts'
import type { TaskUpdate } from '../../wire/worker-status.ts'

/** Hands on what a worker says about an attempt. Throws `absent` when the attempt is not the worker's any more. */
export async function takeNews(desk: WorkerDesk, { worker, attemptId, what: news }: TaskUpdate): Promise<void> {
  const word = { worker, attemptId }
  switch (news.kind) {
    case 'started':
      if (!desk.started(worker, attemptId)) throw gone(attemptId)
      return
    case 'returned':
      if (!desk.returned(word, { ...news, what: news.what || 'its worker handed it back' })) throw gone(attemptId)
      return
    case 'stopped':
      return await finish(desk, word, { outcome: { kind: 'stopped' } })
    case 'fault': {
      const what = news.what || 'its worker did not say why it failed'
      return await finish(desk, word, { outcome: { kind: 'fault', what, final: news.hopeless } })
    }
    case 'timeout':
    case 'result':
      return await finishWith(desk, word, news)
  }
}

type Word = Pick<TaskUpdate, 'worker' | 'attemptId'>

interface Ended {
  readonly kind: 'timeout' | 'result'
  readonly result: Uint8Array | undefined
  readonly fn: DigestFunction | undefined
}

/** A worker that sends what is no result has failed at its task, and is told so as well. */
async function finishWith(desk: WorkerDesk, word: Word, { kind, result: bytes, fn }: Ended): Promise<void> {
  let result: ActionResult | undefined
  try {
    result = bytes && readResult(bytes, fn)
    if (result === undefined && kind === 'result')
      throw new FaultError({ kind: 'invalid', what: 'a task is COMPLETED, and there is no result' })
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    await finish(desk, word, { outcome: { kind: 'fault', what: `its worker sent no result: ${error.message}` } })
    throw error
  }
  const outcome =
    kind === 'timeout' ? ({ kind } as const) : ({ kind, succeeded: (result?.exitCode ?? 1) === 0 } as const)
  await finish(desk, word, {
    outcome,
    ...(bytes && { result: bytes }),
    ...(result && { roots: namedBy(result) }),
  })
}

async function finish(desk: WorkerDesk, word: Word, report: AttemptReport): Promise<void> {
  if ((await desk.finished(word, report)) === 'superseded') throw gone(word.attemptId)
}

const gone = (attemptId: string): FaultError =>
  new FaultError({ kind: 'absent', what: `${attemptId.slice(0, 200)} is not this worker's any more: drop it` })

/** Who does not name the function has hashes that tell it by their length, or SHA-256. */
function readResult(bytes: Uint8Array, fn: DigestFunction | undefined): ActionResult {
  if (fn !== undefined) return actionResultFromProto(bytes, fn)
  let failure: unknown
  for (const guess of BY_LENGTH) {
    try {
      return actionResultFromProto(bytes, guess)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

/** One of each length. */
const BY_LENGTH = ['sha256', 'sha1', 'md5', 'sha384', 'sha512'] as const satisfies readonly DigestFunction[]

/** The blobs that a result names itself. What is in directories is named by those. */
function namedBy({ outputFiles, outputDirectories, stdout, stderr }: ActionResult): Digest[] {
  const all = [
    ...outputFiles.map(({ digest }) => digest),
    ...outputDirectories.flatMap(({ treeDigest, rootDigest }) => [treeDigest, rootDigest]),
    stdout.digest,
    stderr.digest,
  ]
  return all.filter((digest) => digest !== undefined)
}
