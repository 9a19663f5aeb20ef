import { FaultError, invalid } from '../../../base/fault.ts'
import { takeReport } from '../../../services/workers/task-reports.ts'
import type { JsonNews } from '../../../wire/workers/json/news.ts'
import type { TaskNews } from '../../../wire/workers/status.ts'
import { SupersededError } from '../server/envelope.ts'
import type { HttpWorkersTools } from './http-workers.ts'
import { newsFromText, newsWithResult } from './request.ts'

/** The worker and the attempt of a report. */
interface Word {
  readonly worker: string
  readonly attemptId: string
}

/** PUT of …/status: that it runs, what it prints, or that it is over. */
export async function takeProgress(tools: HttpWorkersTools, word: Word, news: JsonNews): Promise<object> {
  const { desk, clock } = tools.door
  for (const piece of piecesOf(news)) if (!(await desk.output({ ...word, ...piece }))) throw superseded(word)
  if (news.word === undefined && news.printed.length > 0) return { id: word.attemptId }
  if (news.word !== 'running') return await takeEnd(tools, word, news)
  const worker = tools.crew.find(word.worker)
  const given = worker?.given.get(word.attemptId)
  if (given !== undefined) given.startedAt ??= clock.now()
  worker?.session.attempts.begun(word.attemptId)
  await handOn(tools, word, { kind: 'started' })
  return { id: word.attemptId }
}

/** Output: in pieces with their offsets, or as text that follows the earlier text. */
function piecesOf({ word, printed, stdout, stderr }: JsonNews) {
  if (word !== 'running') return printed
  return [...printed, ...textPiece('stdout', stdout), ...textPiece('stderr', stderr)]
}

const textPiece = (stream: 'stdout' | 'stderr', text: string) =>
  text === '' ? [] : [{ stream, bytes: Buffer.from(text), at: undefined }]

/** PUT of …/complete: how it ended. */
export async function takeEnd(tools: HttpWorkersTools, word: Word, said: JsonNews): Promise<object> {
  if (said.word === 'running') throw invalid('state: a task that runs is not complete')
  const worker = tools.crew.find(word.worker)
  const news = said.isWhole ? newsWithResult(said) : await fromWords(tools, word, said)
  await handOn(tools, word, news)
  worker?.given.delete(word.attemptId)
  return { id: word.attemptId }
}

/** A worker that sends what makes no sense has failed at its task, and is told so as well. */
async function fromWords(tools: HttpWorkersTools, word: Word, said: JsonNews): Promise<TaskNews> {
  const worker = tools.crew.known(word.worker)
  const given = worker.given.get(word.attemptId)
  if (given === undefined) throw superseded(word)
  const teller = { worker: word.worker, now: tools.door.clock.now(), blobs: tools.instances(given.instance).blobs }
  try {
    return await newsFromText(said, given, teller)
  } catch (error) {
    if (!(error instanceof FaultError) || error.fault.kind !== 'invalid') throw error
    worker.session.attempts.ended(word.attemptId)
    worker.given.delete(word.attemptId)
    await handOn(tools, word, { kind: 'fault', what: `its worker sent no result: ${error.message}`, hopeless: false })
    throw error
  }
}

async function handOn(tools: HttpWorkersTools, word: Word, what: TaskNews): Promise<void> {
  try {
    const ended = (): void => tools.crew.find(word.worker)?.session.attempts.ended(word.attemptId)
    await takeReport({ ...tools.door, ended }, { ...word, what })
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'absent') throw superseded(word)
    throw error
  }
}

const superseded = ({ attemptId }: Word): SupersededError =>
  new SupersededError(`${attemptId.slice(0, 200)} is not this worker's any more: drop it`)
