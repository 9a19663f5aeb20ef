import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { OutputTextOptions } from '../../../services/snippets/output-text.ts'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { ApiProblem, problemBody, problemOf } from '../../../services/snippets/snippet-problem.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { durationText } from '../../amount-text.ts'
import { BodyTooLarge } from '../server/body-limit.ts'
import { takes } from '../server/request-rules.ts'
import { apiPage } from './api-page.ts'
import { artifactResponse } from './artifacts.ts'
import { LIST_PARAMETERS, listQuery } from './list-query.ts'
import { openApi } from './open-api.ts'
import { checked, encodingIn, onlyKnown, readTask, waitIn } from './request.ts'
import { iso, successBody, taskAnswer } from './response.ts'
import { batchBody } from './task-body.ts'
import { taskEvents } from './task-events.ts'

export interface SnippetsDoorOptions {
  readonly service: SnippetService
  readonly instances: Instances
  readonly clock: Clock
  readonly version: string
  /** Aborted when the server stops: waiting requests are answered at once, and clients retry elsewhere. */
  readonly ending: AbortSignal
  /** The caller of a request, and the instance whose tasks it may see and make. */
  readonly scopeOf: (c: Context) => CallScope
  readonly log?: Log
  readonly mostWaitMs?: number
  readonly mostOutputBytes?: number
}

const MOST_WAIT_MS = 60_000
const MOST_OUTPUT_BYTES = 1024 * 1024
const MOST_BATCH_BYTES = 32 * 1024 * 1024
const STOPPING_MS = 5000
/** The estimate for a language in which no task has run yet. */
const GUESS_MS = 1000

type Tools = Required<SnippetsDoorOptions>

/** The routes of the code API: `door.route('/', snippetsDoor(…))`. */
export function snippetsDoor(options: SnippetsDoorOptions): Hono {
  const tools: Tools = {
    log: silentLog,
    mostWaitMs: MOST_WAIT_MS,
    mostOutputBytes: MOST_OUTPUT_BYTES,
    ...options,
  }
  const app = new Hono()
  app.onError((error, c) => problemResponse(error, c, tools.log))
  app.post('/api/v1/tasks', (c) => submit(c, tools))
  app.post('/api/v1/tasks/batch', takes('application/json', { maxBytes: MOST_BATCH_BYTES }), (c) => batch(c, tools))
  app.get('/api/v1/tasks', (c) => list(c, tools))
  // `interactive` is a WebSocket of another door, whose route comes after this one.
  app.get('/api/v1/tasks/:id', (c, next) => (c.req.param('id') === 'interactive' ? next() : show(c, tools)))
  app.delete('/api/v1/tasks/:id', (c) => cancel(c, tools))
  app.post('/api/v1/tasks/:id/cancel', (c) => cancel(c, tools))
  app.post('/api/v1/tasks/:id/rerun', (c) => rerun(c, tools))
  app.get('/api/v1/tasks/:id/events', (c) => events(c, tools))
  app.get('/api/v1/tasks/:id/why', (c) => why(c, tools))
  app.get('/api/v1/tasks/:id/deliveries', (c) => deliveries(c, tools))
  app.get('/api/v1/tasks/:id/artifacts/:path{.+}', (c) => artifact(c, tools))
  app.get('/api/v1/languages', (c) => languages(c, tools))
  app.get('/api/v1/openapi.json', (c) => c.json(openApi(tools.version)))
  app.get('/api', (c) => apiPage(c, tools.version))
  return app
}

function languages(c: Context, { service }: Tools): Response {
  onlyKnown(queryOf(c), [])
  return c.json(successBody({ languages: service.languages() }))
}

async function submit(c: Context, tools: Tools): Promise<Response> {
  const waitMs = waitOf(c, tools)
  mustBeOpen(tools)
  const scope = tools.scopeOf(c)
  const request = readTask(await bodyOf(c), scope.instance)
  const keyed = withKey(request, c.req.header('idempotency-key'))
  if (waitMs === undefined) return await accepted(c, await tools.service.submit(scope, keyed), { tools, waitMs })
  const status = await tools.service.run(scope, keyed, { ms: waitMs, signal: signalOf(c, tools) })
  return await ended(c, status, tools)
}

async function accepted(
  c: Context,
  status: SnippetStatus,
  { tools, waitMs }: { tools: Tools; waitMs: number | undefined },
): Promise<Response> {
  if (waitMs !== undefined)
    return await ended(
      c,
      await tools.service.wait(tools.scopeOf(c), status.id, { ms: waitMs, signal: signalOf(c, tools) }),
      tools,
    )
  c.header('location', `/api/v1/tasks/${status.id}`)
  return c.json(successBody(submittedBody(status, tools)))
}

async function ended(c: Context, status: SnippetStatus, tools: Tools): Promise<Response> {
  c.header('location', `/api/v1/tasks/${status.id}`)
  return c.json(successBody(await taskAnswer(status, outputOptions(c, status, tools))))
}

function submittedBody({ id, state, request }: SnippetStatus, { service }: Tools) {
  return { taskId: id, status: state, estimatedTime: durationText(service.estimateMs(request) ?? GUESS_MS) }
}

type Request = Parameters<SnippetService['submit']>[1]

function withKey(request: Request, header: string | undefined): Request {
  if (header === undefined) return request
  if (header === '' || header.length > 255)
    throw new ApiProblem('invalid', 'Idempotency-Key: must have 1 to 255 characters')
  if (request.idempotencyKey !== undefined && request.idempotencyKey !== header)
    throw new ApiProblem('invalid', 'idempotencyKey: differs from the header Idempotency-Key')
  return { ...request, idempotencyKey: header }
}

/** Submits all tasks at once, so that they share one journal write; each is accepted or refused on its own. */
async function batch(c: Context, tools: Tools): Promise<Response> {
  onlyKnown(queryOf(c), [])
  mustBeOpen(tools)
  const scope = tools.scopeOf(c)
  const { tasks } = checked(batchBody, await bodyOf(c))
  const answers = await Promise.all(
    tasks.map(async (body) => {
      try {
        const request = readTask(body, scope.instance)
        return successBody(submittedBody(await tools.service.submit(scope, request), tools))
      } catch (error) {
        const problem = problemOf(error)
        if (problem === undefined) throw error
        return problemBody(problem)
      }
    }),
  )
  return c.json(successBody({ tasks: answers }))
}

async function list(c: Context, tools: Tools): Promise<Response> {
  const query = queryOf(c)
  onlyKnown(query, LIST_PARAMETERS)
  const { snippets, next } = await tools.service
    .list(tools.scopeOf(c), listQuery(query), cursorIn(query))
    .catch((error: unknown) => {
      const isWrongCursor = error instanceof FaultError && error.fault.kind === 'invalid'
      throw isWrongCursor ? new ApiProblem('query', `cursor: ${error.message}`) : error
    })
  const tasks = await Promise.all(snippets.map((status) => taskAnswer(status, undefined)))
  return c.json(successBody({ tasks, ...(next !== undefined && { nextCursor: next }) }))
}

/** Validated before the submission: a misspelt parameter must not leave a task behind. */
function waitOf(c: Context, { mostWaitMs }: Tools): number | undefined {
  const query = queryOf(c)
  onlyKnown(query, ['wait', 'encoding'])
  encodingIn(query)
  return waitIn(query, mostWaitMs)
}

const cursorIn = (query: URLSearchParams): string | undefined => query.get('cursor') ?? undefined

async function show(c: Context, tools: Tools): Promise<Response> {
  const waitMs = waitOf(c, tools)
  const found = await taskIn(c, tools)
  const status =
    waitMs === undefined
      ? found
      : await tools.service.wait(tools.scopeOf(c), found.id, { ms: waitMs, signal: signalOf(c, tools) })
  return c.json(successBody(await taskAnswer(status, outputOptions(c, status, tools))))
}

async function cancel(c: Context, tools: Tools): Promise<Response> {
  const ms = waitOf(c, tools)
  const { id } = await taskIn(c, tools)
  await tools.service.cancel(tools.scopeOf(c), id)
  const status =
    ms === undefined
      ? await taskIn(c, tools)
      : await tools.service.wait(tools.scopeOf(c), id, { ms, signal: signalOf(c, tools) })
  return c.json(successBody(await taskAnswer(status, outputOptions(c, status, tools))))
}

async function rerun(c: Context, tools: Tools): Promise<Response> {
  const waitMs = waitOf(c, tools)
  mustBeOpen(tools)
  const { id } = await taskIn(c, tools)
  const status = await tools.service.rerun(tools.scopeOf(c), id)
  if (status === undefined) throw noTask(id)
  return await accepted(c, status, { tools, waitMs })
}

async function events(c: Context, tools: Tools): Promise<Response> {
  onlyKnown(queryOf(c), ['encoding'])
  const status = await taskIn(c, tools)
  const { service, clock, ending } = tools
  const lastEventId = c.req.header('last-event-id')
  const stream = taskEvents(status.id, {
    scope: tools.scopeOf(c),
    service,
    clock,
    ending,
    output: outputOptions(c, status, tools),
    lastEventId,
    cut: () => socketOf(c)?.destroy(),
  })
  return c.body(stream, 200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
}

async function why(c: Context, tools: Tools): Promise<Response> {
  onlyKnown(queryOf(c), [])
  const { id, state } = await taskIn(c, tools)
  return c.json(successBody({ taskId: id, status: state, reasons: await tools.service.why(tools.scopeOf(c), id) }))
}

async function deliveries(c: Context, tools: Tools): Promise<Response> {
  onlyKnown(queryOf(c), [])
  const { id } = await taskIn(c, tools)
  const delivery = tools.service.delivery(tools.scopeOf(c), id)
  const tries = (delivery?.tries ?? []).map(({ at, ms, status, problem }) => ({
    at: iso(at),
    executionTime: durationText(ms),
    ...(status !== undefined && { status }),
    ...(problem !== undefined && { problem }),
  }))
  if (delivery === undefined) throw new ApiProblem('noArtifact', 'This task has no callback')
  return c.json(successBody({ state: delivery.state, tries }))
}

async function artifact(c: Context, tools: Tools): Promise<Response> {
  const status = await taskIn(c, tools)
  const outlet = {
    clock: tools.clock,
    cut(reason: unknown) {
      tools.log.warn({ path: c.req.path, err: reason }, 'artifact response aborted')
      socketOf(c)?.destroy()
    },
  }
  const { blobs } = tools.instances(status.request.instance)
  return await artifactResponse(status, c.req.param('path') ?? '', { blobs, outlet, signal: c.req.raw.signal })
}

/**
 * Checked before the languages: workers disconnect from a stopping server first, and `no worker` would be the wrong
 * reason.
 */
function mustBeOpen({ service, ending }: Tools): void {
  if (ending.aborted) throw new ApiProblem('unavailable', 'The server is stopping', STOPPING_MS)
  service.mustBeOpen()
}

async function taskIn(c: Context, tools: Tools): Promise<SnippetStatus> {
  const id = c.req.param('id') ?? ''
  const status = id.length <= 100 ? await tools.service.find(tools.scopeOf(c), id) : undefined
  if (status === undefined) throw noTask(id)
  return status
}

const noTask = (id: string): ApiProblem => new ApiProblem('noTask', `No task is named ${id.slice(0, 100)}`)

const queryOf = (c: Context): URLSearchParams => new URL(c.req.url).searchParams

async function bodyOf(c: Context): Promise<unknown> {
  const text = await c.req.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiProblem('notJson', text === '' ? 'There is no body' : 'The body cannot be read as JSON')
  }
}

const outputOptions = (
  c: Context,
  { request }: SnippetStatus,
  { instances, mostOutputBytes }: Tools,
): OutputTextOptions => ({
  encoding: encodingIn(queryOf(c)),
  mostBytes: mostOutputBytes,
  blobs: instances(request.instance).blobs,
})

const signalOf = (c: Context, { ending }: Tools): AbortSignal => AbortSignal.any([c.req.raw.signal, ending])

const socketOf = (c: Context) => ((c.env ?? {}) as Partial<HttpBindings>).outgoing

function problemResponse(error: Error, c: Context, log: Log): Response {
  const problem = error instanceof BodyTooLarge ? new ApiProblem('tooLarge', 'The body is too large') : problemOf(error)
  if (problem === undefined && !c.req.raw.signal.aborted)
    log.error({ method: c.req.method, path: c.req.path, err: error }, 'code api request failed')
  const sent = problem ?? new ApiProblem('bug', 'Internal error; see the log of the server')
  const body = problemBody(sent)
  if (body.retryAfter !== undefined) c.header('retry-after', String(body.retryAfter))
  return c.json(body, API_CODES[sent.code].status as ContentfulStatusCode)
}
