import { FaultError, invalid } from '../../../base/fault.ts'
import { takeReport } from '../../../services/workers/task-reports.ts'
import type { JsonReport } from '../../../wire/workers/json/report.ts'
import type { AttemptState } from '../../../wire/workers/report.ts'
import { SupersededError } from '../server/envelope.ts'
import type { HttpWorkersTools } from './http-workers.ts'
import { newsFromText, newsWithResult } from './request.ts'

/** The worker and the attempt of a report. */
interface ReportedAttempt {
  readonly worker: string
  readonly attemptId: string
}

/** PUT of …/status: the task runs, has printed output, or has ended. */
export async function takeProgress(
  tools: HttpWorkersTools,
  attempt: ReportedAttempt,
  news: JsonReport,
): Promise<object> {
  const { service, clock } = tools.door
  for (const piece of piecesOf(news)) if (!(await service.output({ ...attempt, ...piece }))) throw superseded(attempt)
  if (news.word === undefined && news.printed.length > 0) return { id: attempt.attemptId }
  if (news.word !== 'running') return await takeEnd(tools, attempt, news)
  const worker = tools.workers.find(attempt.worker)
  const given = worker?.given.get(attempt.attemptId)
  if (given !== undefined) given.startedAt ??= clock.now()
  worker?.session.attempts.begun(attempt.attemptId)
  await passOn(tools, attempt, { kind: 'started' })
  return { id: attempt.attemptId }
}

/** Output: in pieces with their offsets, or as text that follows the earlier text. */
function piecesOf({ word, printed, stdout, stderr }: JsonReport) {
  if (word !== 'running') return printed
  return [...printed, ...textPiece('stdout', stdout), ...textPiece('stderr', stderr)]
}

const textPiece = (stream: 'stdout' | 'stderr', text: string) =>
  text === '' ? [] : [{ stream, bytes: Buffer.from(text), at: undefined }]

/** PUT of …/complete: the end of the task. */
export async function takeEnd(tools: HttpWorkersTools, attempt: ReportedAttempt, report: JsonReport): Promise<object> {
  if (report.word === 'running') throw invalid('state: a running task cannot be reported as complete')
  const worker = tools.workers.find(attempt.worker)
  const news = report.isWhole ? newsWithResult(report) : await resultFromText(tools, attempt, report)
  await passOn(tools, attempt, news)
  worker?.given.delete(attempt.attemptId)
  return { id: attempt.attemptId }
}

/** An invalid report fails the attempt, and the worker gets the error too. */
async function resultFromText(
  tools: HttpWorkersTools,
  attempt: ReportedAttempt,
  report: JsonReport,
): Promise<AttemptState> {
  const worker = tools.workers.known(attempt.worker)
  const given = worker.given.get(attempt.attemptId)
  if (given === undefined) throw superseded(attempt)
  const reporter = { worker: attempt.worker, now: tools.door.clock.now(), blobs: tools.instances(given.instance).blobs }
  try {
    return await newsFromText(report, given, reporter)
  } catch (error) {
    if (!(error instanceof FaultError) || error.fault.kind !== 'invalid') throw error
    worker.session.attempts.ended(attempt.attemptId)
    worker.given.delete(attempt.attemptId)
    await passOn(tools, attempt, {
      kind: 'fault',
      what: `its worker sent no result: ${error.message}`,
      hopeless: false,
    })
    throw error
  }
}

async function passOn(tools: HttpWorkersTools, attempt: ReportedAttempt, what: AttemptState): Promise<void> {
  try {
    const ended = (): void => tools.workers.find(attempt.worker)?.session.attempts.ended(attempt.attemptId)
    await takeReport({ ...tools.door, ended }, { ...attempt, what })
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'absent') throw superseded(attempt)
    throw error
  }
}

const superseded = ({ attemptId }: ReportedAttempt): SupersededError =>
  new SupersededError(`${attemptId.slice(0, 200)} is no longer leased to this worker: drop it`)
