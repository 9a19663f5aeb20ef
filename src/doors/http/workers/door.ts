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
import { registrationFromJson } from '../../../wire/workers/json/registration.ts'
import { reportFromJson } from '../../../wire/workers/json/report.ts'
import { foundStageToJson, keptStageFromJson } from '../../../wire/workers/json/stage.ts'
import { mustBeConditions } from '../../../wire/workers/stage.ts'
import { bothResponse, dataResponse, errorResponse } from '../server/envelope.ts'
import { takes } from '../server/request-rules.ts'
import { handOut } from './hand-out.ts'
import { askerOf, type HttpWorkersTools, httpWorkers, workerJson } from './http-workers.ts'
import type { GivenPlainTask } from './response.ts'
import { takeEnd, takeProgress } from './task-report.ts'
import { waitTime } from './wait-time.ts'

export interface HttpWorkersOptions extends WorkerSessionsOptions {
  /** The stores for outputs that workers send with the end of a task. */
  readonly instances: Instances
  /** A UUID. */
  readonly newId: () => string
  readonly log: Log
}

/** More than the longest result of a Windlass worker as JSON. */
const MOST_END_BYTES = 32 * 1024 * 1024

/** Longer than the delivery of any response takes. */
const DELIVERY_MS = 60_000

/** The routes of workers that use HTTP: `door.route('/', …)`. */
export function httpWorkersDoor(options: HttpWorkersOptions): Hono {
  const { instances, newId, clock, log } = options
  const door = openWorkerSessions(options)
  const tools: HttpWorkersTools = { door, workers: httpWorkers(door), instances, newId, clock, log }
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
  app.put(`${task}/status`, (c) => takeTaskReport(c, tools, takeProgress))
  app.put(`${task}/complete`, long, (c) => takeTaskReport(c, tools, takeEnd))
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

/** Undefined without a body: some requests need only their route. */
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
  const { workers, door, newId } = tools
  const { id, given, token } = await workers.register(registrationFromJson(await bodyOf(c)), newId)
  c.status(201)
  return bothResponse(c, tools, { ...workerJson(await viewOf(door, id), given), session: token })
}

async function heartbeat(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { workers, door } = tools
  const { session, given, id } = askerOf(c, tools.workers)
  const { running, load, draining, preempted } = heartbeatFromJson(await bodyOf(c))
  const now = door.clock.now()
  const holds = session.attempts.renewedBy(running, now)
  const held = new Set(holds)
  for (const [attempt, task] of given) if (!held.has(attempt) && !isOnItsWay(task, now)) given.delete(attempt)
  const pulse = { holds, draining, ...(load !== undefined && { load }), ...(preempted && { preempted }) }
  if (!(await door.service.heartbeat(id, pulse))) workers.known(id)
  const answer = session.answer()
  const state = answer.drain || draining ? 'draining' : 'online'
  return bothResponse(c, tools, { worker_id: id, state, ...heartbeatAnswerToJson(answer) })
}

/** A lease that was just sent may have crossed this heartbeat. */
const isOnItsWay = (task: GivenPlainTask | undefined, now: number): boolean =>
  task !== undefined && now - task.givenAt < DELIVERY_MS

/** Waits for orders, which the worker would otherwise get with its next heartbeat. */
async function orders(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { workers, door } = tools
  const { session, news } = askerOf(c, tools.workers)
  const seen = Number(c.req.query('seen') ?? '0')
  const waitMs = waitTime(c.req.query('wait'), door.longPollMs)
  await news.wait(seen, waitMs, [c.req.raw.signal, door.ending])
  askerOf(c, workers)
  if (news.count === seen) return c.body(null, 204)
  return dataResponse(c, tools, { ...heartbeatAnswerToJson(session.answer()), seen: news.count })
}

async function leave(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { door } = tools
  const { id } = askerOf(c, tools.workers)
  await door.service.unregister(id)
  return dataResponse(c, tools, { id, state: 'offline' })
}

/** Accepted in any state of the worker: an unknown attempt is refused below. */
async function takeTaskReport(
  c: Context,
  tools: HttpWorkersTools,
  take: typeof takeEnd | typeof takeProgress,
): Promise<Response> {
  return dataResponse(c, tools, await take(tools, wordOf(c), reportFromJson(await bodyOf(c))))
}

const wordOf = (c: Context) => ({ worker: idIn(c), attemptId: c.req.param('tid') ?? '' })

async function findStage(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const conditions = mustBeConditions(c.req.query('conditions') ?? '')
  const result = await tools.door.stages.find({ ...wordOf(c), conditions })
  return result === undefined ? c.body(null, 204) : dataResponse(c, tools, foundStageToJson(result))
}

async function keepStage(c: Context, tools: HttpWorkersTools): Promise<Response> {
  await tools.door.stages.keep({ ...wordOf(c), ...keptStageFromJson(await bodyOf(c)) })
  return dataResponse(c, tools, { id: c.req.param('tid') })
}

async function list(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const { workers, door } = tools
  const views = (await everyWorker(door)).map((view) => workerJson(view, workers.find(view.worker)?.given))
  return dataResponse(c, tools, views)
}

async function show(c: Context, tools: HttpWorkersTools): Promise<Response> {
  const id = idIn(c)
  return dataResponse(c, tools, workerJson(await viewOf(tools.door, id), tools.workers.find(id)?.given))
}

const everyWorker = async ({ service }: Pick<WorkerSessions, 'service'>) => [
  ...(await service.list()),
  ...(await service.lost()),
]

async function viewOf({ service }: WorkerSessions, id: string) {
  const view = (await everyWorker({ service })).find(({ worker }) => worker === id)
  if (view === undefined)
    throw new FaultError({ kind: 'absent', what: `no worker is registered as ${JSON.stringify(id.slice(0, 200))}` })
  return view
}
