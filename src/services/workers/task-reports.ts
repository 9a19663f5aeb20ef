import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/worker-calls/worker-service.ts'
import type { AttemptReport } from '../../engine/workers/worker-session.ts'
import type { ActionResult } from '../../model/action-result.ts'
import { actionResultFromProto } from '../../wire/reapi/action-result.ts'
import type { TaskUpdate } from '../../wire/workers/status.ts'
import type { ReportCheck } from './reported-result.ts'

/** Hands on what a worker says about an attempt. Throws `absent` when the attempt is not the worker's any more. */
export async function takeReport(tools: ReportTools, { worker, attemptId, what: news }: TaskUpdate): Promise<void> {
  const { desk, ended } = tools
  const word = { worker, attemptId }
  switch (news.kind) {
    case 'started':
      if (!(await desk.started(worker, attemptId))) throw gone(attemptId)
      return
    case 'returned':
      ended()
      if (!(await desk.returned(word, { ...news, what: news.what || 'its worker handed it back' })))
        throw gone(attemptId)
      return
    case 'stopped':
      return await finish(tools, word, { outcome: { kind: 'stopped' } })
    case 'fault': {
      const what = news.what || 'its worker did not say why it failed'
      return await finish(tools, word, { outcome: { kind: 'fault', what, final: news.hopeless } })
    }
    case 'timeout':
    case 'result':
      return await finishWith(tools, word, news)
  }
}

export interface ReportTools {
  readonly desk: WorkerService
  readonly checkReport: ReportCheck
  /** Called before the grid hears of the end. Heartbeats renew the attempt until then: a check takes its time. */
  readonly ended: () => void
}

type Word = Pick<TaskUpdate, 'worker' | 'attemptId'>

interface Ended {
  readonly kind: 'timeout' | 'result'
  readonly result: Uint8Array | undefined
  readonly fn: DigestFunction | undefined
}

/** A worker that sends what is no result has failed at its task, and is told so as well. */
async function finishWith(tools: ReportTools, word: Word, news: Ended): Promise<void> {
  const { kind, result: bytes } = news
  let result: ActionResult | undefined
  try {
    const read = bytes && readResult(bytes, news.fn)
    result = read?.result
    if (bytes && read) await tools.checkReport({ ...word, bytes, fn: read.fn })
    if (result === undefined && kind === 'result')
      throw new FaultError({ kind: 'invalid', what: 'a task is COMPLETED, and there is no result' })
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    await finish(tools, word, { outcome: { kind: 'fault', what: `its worker sent no result: ${error.message}` } })
    throw error
  }
  const outcome =
    kind === 'timeout' ? ({ kind } as const) : ({ kind, succeeded: (result?.exitCode ?? 1) === 0 } as const)
  await finish(tools, word, {
    outcome,
    ...(bytes && { result: bytes }),
    ...(result && { roots: namedBy(result) }),
  })
}

async function finish({ desk, ended }: ReportTools, word: Word, report: AttemptReport): Promise<void> {
  ended()
  if ((await desk.finished(word, report)) === 'superseded') throw gone(word.attemptId)
}

const gone = (attemptId: string): FaultError =>
  new FaultError({ kind: 'absent', what: `${attemptId.slice(0, 200)} is not this worker's any more: drop it` })

interface ReadResult {
  readonly result: ActionResult
  readonly fn: DigestFunction
}

/** A worker that names no digest function is read by the length of its hashes, SHA-256 first. */
function readResult(bytes: Uint8Array, fn: DigestFunction | undefined): ReadResult {
  if (fn !== undefined) return { result: actionResultFromProto(bytes, fn), fn }
  let failure: unknown
  for (const guess of BY_LENGTH) {
    try {
      return { result: actionResultFromProto(bytes, guess), fn: guess }
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
