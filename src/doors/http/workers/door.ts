import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { FaultError, invalid } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import {
  openWorkerSessions,
  type WorkerSessions,
  type WorkerSessionsOptions,
} from '../../../services/workers/worker-sessions.ts'
import { heartbeatAnswerToJson, heartbeatFromJson } from '../../../wire/workers/json/heartbeat.ts'
import { newsFromJson } from '../../../wire/workers/json/news.ts'
import { registrationFromJson } from '../../../wire/workers/json/registration.ts'
import { foundStageToJson, keptStageFromJson } from '../../../wire/workers/json/stage.ts'
import { mustBeConditions } from '../../../wire/workers/stage.ts'
import { takes } from '../server/body-rules.ts'
import { bothResponse, errorResponse, tell } from '../server/envelope.ts'
import { handOut } from './hand-out.ts'
import { askerOf, type HttpWorkersTools, httpWorkers, workerJson } from './http-workers.ts'
import type { GivenPlainTask } from './response.ts'
import { takeEnd, takeProgress } from './task-report.ts'
import { waitTime } from './wait-time.ts'

export interface HttpWorkersOptions extends WorkerSessionsOptions {
  /** Where outputs go that workers send along with the end of a task. */
  readonly instances: Instances
  /** A UUID. */
  readonly newId: () => string
  readonly log: Log
}

/** The longest results that a worker of ours makes, in letters, and some more. */
const MOST_END_BYTES = 32 * 1024 * 1024

/** Longer than any answer takes to get there. */
const DELIVERY_MS = 60_000

/** Workers that speak HTTP, to be hung on the HTTP door: `door.route('/', …)`. */
export function httpWorkersDoor(options: HttpWorkersOptions): Hono {
  const { instances, newId, clock, log } = options
  const door = openWorkerSessions(options)
  const tools: HttpWorkersTools = { door, crew: httpWorkers(door), instances, newId, clock, log }
  const app = new Hono()
  app.onError((error, c) => errorResponse(c, tools, error))
  app.use('/api/v1/workers/*', refusingAtTheEnd(door.ending))
  const one = '/api/v1/workers/:id'
  const task = `${one}/tasks/:tid`
  const long = takes('application/json', { maxBytes: MOST_END_BYTES })
  app.post('/api/v1/workers', (c) => register(c, tools))
  app.get('/api/v1/workers', (c) => list(c, tools))
  app.get(one, (c) => show(c, tools))
  app.delete(one, (c) => leave(c, tools))
  app.put(`${one}/heartbeat`, (c) => heartbeat(c, tools))
  app.get(`${one}/work`, (c) => handOut(c, tools))
  app.get(`${one}/orders`, (c) => orders(c, tools))
  app.put(`${task}/status`, (c) => told(c, tools, takeProgress))
  app.put(`${task}/complete`, long, (c) => told(c, tools, takeEnd))
  app.get(`${task}/stage`, (c) => findStage(c, tools))
  app.put(`${task}/stage`, long, (c) => keepStage(c, tools))
  return app
}

/** The journal is closing: workers reconnect and report to the next server. */
const refusingAtTheEnd =
  (ending: AbortSignal): MiddlewareHandler =>
  (_, next) => {
    if (ending.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
    return next()
  }

const idIn = (c: Context): string => c.req.param('id') ?? ''

/** Undefined when there is none: some words need no more than their route. */
async function bodyOf(c: Context): Promise<unknown> {
  const text = await c.req.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON')
  }
}

async function register(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { crew, door, newId } = tools
  const { id, given, token } = await crew.register(registrationFromJson(await bodyOf(c)), newId)
  c.status(201)
  return bothResponse(c, tools, { ...workerJson(await viewOf(door, id), given), session: token })
}

async function heartbeat(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { crew, door } = tools
  const { session, given, id } = askerOf(c, tools.crew)
  const { running, load, draining, preempted } = heartbeatFromJson(await bodyOf(c))
  const now = door.clock.now()
  const holds = session.attempts.renewedBy(running, now)
  const held = new Set(holds)
  for (const [attempt, task] of given) if (!held.has(attempt) && !isOnItsWay(task, now)) given.delete(attempt)
  const pulse = { holds, draining, ...(load !== undefined && { load }), ...(preempted && { preempted }) }
  if (!(await door.desk.heartbeat(id, pulse))) crew.known(id)
  const answer = session.answer()
  const state = answer.drain || draining ? 'draining' : 'online'
  return bothResponse(c, tools, { worker_id: id, state, ...heartbeatAnswerToJson(answer) })
}

/** A lease that was just sent may have crossed this heartbeat. */
const isOnItsWay = (task: GivenPlainTask | undefined, now: number): boolean =>
  task !== undefined && now - task.givenAt < DELIVERY_MS

/** Waits until there is something that the worker would else hear with its next heartbeat. */
async function orders(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { crew, door } = tools
  const { session, news } = askerOf(c, tools.crew)
  const seen = Number(c.req.query('seen') ?? '0')
  const waitMs = waitTime(c.req.query('wait'), door.longPollMs)
  await news.wait(seen, waitMs, [c.req.raw.signal, door.ending])
  askerOf(c, crew)
  if (news.rung === seen) return c.body(null, 204)
  return tell(c, tools, { ...heartbeatAnswerToJson(session.answer()), seen: news.rung })
}

async function leave(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { door } = tools
  const { id } = askerOf(c, tools.crew)
  await door.desk.unregister(id)
  return tell(c, tools, { id, state: 'offline' })
}

/** Told in any state: what is not there any more says so itself. */
async function told(
  c: Context,
  tools: HttpWorkersTools,
  take: typeof takeEnd | typeof takeProgress,
): Promise<Response> {
  return tell(c, tools, await take(tools, wordOf(c), newsFromJson(await bodyOf(c))))
}

const wordOf = (c: Context) => ({ worker: idIn(c), attemptId: c.req.param('tid') ?? '' })

async function findStage(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const conditions = mustBeConditions(c.req.query('conditions') ?? '')
  const result = await tools.door.stages.find({ ...wordOf(c), conditions })
  return result === undefined ? c.body(null, 204) : tell(c, tools, foundStageToJson(result))
}

async function keepStage(c: Context, tools: HttpWorkersTools): Promise<Response> {
  await tools.door.stages.keep({ ...wordOf(c), ...keptStageFromJson(await bodyOf(c)) })
  return tell(c, tools, { id: c.req.param('tid') })
}

async function list(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { crew, door } = tools
  const workers = (await everyWorker(door)).map((view) => workerJson(view, crew.find(view.worker)?.given))
  return tell(c, tools, workers)
}

async function show(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const id = idIn(c)
  return tell(c, tools, workerJson(await viewOf(tools.door, id), tools.crew.find(id)?.given))
}

const everyWorker = async ({ desk }: Pick<WorkerSessions, 'desk'>) => [...(await desk.list()), ...(await desk.lost())]

async function viewOf({ desk }: WorkerSessions, id: string) {
  const view = (await everyWorker({ desk })).find(({ worker }) => worker === id)
  if (view === undefined)
    throw new FaultError({ kind: 'absent', what: `no worker is registered as ${JSON.stringify(id.slice(0, 200))}` })
  return view
}
