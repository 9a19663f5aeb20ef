import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AddressRules } from '../../../base/address-rules.ts'
import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import type { EngineFigures } from '../../../engine/queries.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import { isOver } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { BodyTooLarge } from '../server/body-limit.ts'
import { configInfo, JUDGE0_LIMITS, type Judge0Limits } from './judge0-limits.ts'
import { idsOf, listedLanguages } from './language-ids.ts'
import { JUDGE0_BUG, Judge0Problem, judge0ProblemOf } from './problem.ts'
import { readSubmission } from './request.ts'
import { type AnswerOptions, type Judge0Runs, judge0Answer } from './response.ts'
import { type Judge0Service, judge0Service } from './runs.ts'
import { FIELDS_BY_DEFAULT, fieldsIn, type Judge0Field } from './submission-fields.ts'
import { STATUSES } from './submission-status.ts'
import { tokenOf } from './token.ts'

export interface Judge0DoorOptions {
  readonly service: Pick<SnippetService, 'languages' | 'awaited' | 'mustBeOpen' | 'submit' | 'find' | 'wait' | 'cancel'>
  readonly instances: Instances
  readonly clock: Clock
  readonly version: string
  /** Aborted when the server stops: waiting requests are answered at once. */
  readonly ending: AbortSignal
  readonly figures: () => Pick<EngineFigures, 'queued' | 'workers'>
  readonly log?: Log
  /** The caller of a request, and the instance whose tasks it may see and make. */
  readonly scopeOf: (c: Context) => CallScope
  readonly limits?: Partial<Judge0Limits>
  /** Without this, callbacks are refused. The service sends the callbacks, so its forms must include `judge0Form`. */
  readonly callbacks?: { readonly addresses: AddressRules }
  /** Whether tasks of an instance may use the network. If left out, none may. */
  readonly mayUseNetwork?: (instance: InstanceName) => boolean
  /** The path prefixes of the routes. Judge0 itself serves them at the root. */
  readonly prefixes?: readonly string[]
  readonly mostWaitMs?: number
  /** Limit for each stream. */
  readonly mostOutputBytes?: number
}

interface Tools extends Required<Omit<Judge0DoorOptions, 'limits' | 'callbacks' | 'service'>> {
  readonly languages: SnippetService['languages']
  readonly awaited: SnippetService['awaited']
  readonly service: Pick<SnippetService, 'mustBeOpen'>
  readonly submissions: Judge0Service
  readonly limits: Judge0Limits
  readonly hasCallbacks: boolean
}

const STOPPING_MS = 5000
/**
 * The release whose API this is. The SDK chooses language numbers by it and fails on a version that it does not know.
 */
const JUDGE0_VERSION = '1.13.1'
const NOT_NOW_MS = 5000

/** The API of Judge0, as routes of the HTTP door. */
export function judge0Door({ service, limits, callbacks, ...options }: Judge0DoorOptions): Hono {
  const set = {
    log: silentLog,
    mayUseNetwork: () => false,
    prefixes: ['', '/judge0'],
    mostWaitMs: 60_000,
    mostOutputBytes: 1024 * 1024,
    ...options,
    languages: service.languages,
    awaited: service.awaited,
    service,
    limits: { ...JUDGE0_LIMITS, ...limits },
    hasCallbacks: callbacks !== undefined,
  }
  const { clock, log } = set
  const tools: Tools = { ...set, submissions: judge0Service({ service, clock, callbacks }) }
  const app = new Hono()
  app.onError((error, c) => errorResponse(error, c, log))
  for (const prefix of tools.prefixes) hang(app, prefix, tools)
  return app
}

function hang(app: Hono, prefix: string, tools: Tools): void {
  app.post(`${prefix}/submissions`, (c) => create(c, tools))
  app.get(`${prefix}/submissions`, () => {
    throw new Judge0Problem(403, 'this server does not list submissions: request them by their tokens')
  })
  app.post(`${prefix}/submissions/batch`, (c) => createBatch(c, tools))
  app.get(`${prefix}/submissions/batch`, (c) => showBatch(c, tools))
  app.get(`${prefix}/submissions/:token`, (c) => show(c, tools))
  app.delete(`${prefix}/submissions/:token`, (c) => remove(c, tools))
  const listed = () => listedLanguages(tools.languages())
  app.get(`${prefix}/languages`, (c) => c.json(listed().map(({ id, name }) => ({ id, name }))))
  app.get(`${prefix}/languages/all`, (c) =>
    c.json(listed().map(({ id, name, is_archived }) => ({ id, name, is_archived }))),
  )
  app.get(`${prefix}/languages/:id`, (c) => language(c, tools))
  app.get(`${prefix}/statuses`, (c) => c.json(Object.values(STATUSES)))
  app.get(`${prefix}/config_info`, (c) =>
    c.json(configInfo(tools.limits, { ...tools, mayUseNetwork: tools.mayUseNetwork(tools.scopeOf(c).instance) })),
  )
  app.get(`${prefix}/workers`, (c) => c.json([workers(tools)]))
  app.get(`${prefix}/version`, (c) => c.text(JUDGE0_VERSION))
  app.get(`${prefix}/about`, (c) =>
    c.json({ version: JUDGE0_VERSION, homepage: null, source_code: null, maintainer: `windlass ${tools.version}` }),
  )
  if (prefix === '') return
  app.all(`${prefix}/*`, () => {
    throw new Judge0Problem(404, 'Not Found')
  })
}

async function create(c: Context, tools: Tools): Promise<Response> {
  const shown = shownIn(c)
  mustBeOpen(tools)
  const order = await readSubmission(await bodyOf(c), { ...rulesFor(c, tools), isBase64: shown.isBase64 })
  const runs = await tools.submissions.submit(tools.scopeOf(c), order)
  if (c.req.query('wait') !== 'true') return c.json({ token: tokenOf(runs.first.id) }, 201)
  const signal = AbortSignal.any([c.req.raw.signal, tools.ending])
  const ended = await tools.submissions.wait(tools.scopeOf(c), runs, { ms: tools.mostWaitMs, signal })
  try {
    return c.json(await judge0Answer(ended, answerOptions(ended, shown, tools)), 201)
  } catch (error) {
    if (!(error instanceof Judge0Problem)) throw error
    return c.json({ ...error.body, token: tokenOf(runs.first.id) }, 201) // the client can poll for it
  }
}

async function createBatch(c: Context, tools: Tools): Promise<Response> {
  const { isBase64 } = shownIn(c, false)
  mustBeOpen(tools)
  const body = await bodyOf(c)
  const given = typeof body === 'object' && body !== null && 'submissions' in body ? body.submissions : undefined
  const submissions: readonly unknown[] = Array.isArray(given) ? given : []
  mustFit(submissions.length, tools)
  const rules = { ...rulesFor(c, tools), isBase64 }
  const answers: object[] = []
  let hasTaken = false
  // One after another: archives are unpacked here, and must not be in memory at the same time.
  for (const each of submissions) {
    try {
      const { first } = await tools.submissions.submit(tools.scopeOf(c), await readSubmission(each, rules))
      answers.push({ token: tokenOf(first.id) })
      hasTaken = true
    } catch (error) {
      const problem = judge0ProblemOf(error)
      if (problem === undefined || (problem.status !== 422 && !hasTaken)) throw error
      answers.push(problem.body)
    }
  }
  return c.json(answers, hasTaken ? 201 : 422)
}

function mustFit(count: number, { limits: { mostBatch } }: Tools): void {
  if (count === 0) throw new Judge0Problem(400, 'there should be at least one submission in a batch')
  if (count > mostBatch)
    throw new Judge0Problem(400, `number of submissions in a batch should be less than or equal to ${mostBatch}`)
}

async function show(c: Context, tools: Tools): Promise<Response> {
  const shown = shownIn(c)
  const runs = await submissionIn(c, tools)
  return c.json(await judge0Answer(runs, answerOptions(runs, shown, tools)))
}

async function showBatch(c: Context, tools: Tools): Promise<Response> {
  const shown = shownIn(c)
  const tokens = (c.req.header('tokens') ?? c.req.query('tokens') ?? '').split(',').filter((token) => token !== '')
  mustFit(tokens.length, tools)
  const submissions: unknown[] = []
  for (const token of tokens) {
    const runs = await tools.submissions.find(tools.scopeOf(c), token.trim())
    submissions.push(runs === undefined ? null : await judge0Answer(runs, answerOptions(runs, shown, tools)))
  }
  return c.json({ submissions })
}

/** Cancels running tasks. Ended tasks stay for the usual retention. */
async function remove(c: Context, tools: Tools): Promise<Response> {
  const { fields } = shownIn(c)
  const runs = await submissionIn(c, tools)
  if ([runs.first, ...runs.others].every(isOver)) throw new Judge0Problem(400, 'delete not allowed')
  await tools.submissions.cancel(tools.scopeOf(c), runs)
  const now = await submissionIn(c, tools)
  return c.json(await judge0Answer(now, answerOptions(now, { fields, isBase64: true }, tools)))
}

async function submissionIn(c: Context, tools: Tools): Promise<Judge0Runs> {
  const runs = await tools.submissions.find(tools.scopeOf(c), c.req.param('token') ?? '')
  if (runs === undefined) throw new Judge0Problem(404, 'Not Found')
  return runs
}

function language(c: Context, tools: Tools): Response {
  const found = listedLanguages(tools.languages()).find(({ id }) => String(id) === c.req.param('id'))
  if (found === undefined && tools.awaited().some((name) => idsOf(name).some((id) => String(id) === c.req.param('id'))))
    throw new Judge0Problem(503, 'a worker is still testing this language', NOT_NOW_MS)
  if (found === undefined) throw new Judge0Problem(404, 'Not Found')
  return c.json(found)
}

/** Reports all workers as one queue. */
function workers({ figures }: Tools) {
  const { queued, workers } = figures()
  const [idle, working, paused] = [workers.ONLINE, workers.BUSY, workers.DEGRADED + workers.DRAINING]
  return { queue: 'default', size: queued, available: idle + working + paused, idle, working, paused, failed: 0 }
}

interface ShownFields {
  readonly fields: readonly Judge0Field[]
  readonly isBase64: boolean
}

const shownIn = (c: Context, hasFields = true): ShownFields => ({
  fields: hasFields ? fieldsIn(c.req.query('fields')) : FIELDS_BY_DEFAULT,
  isBase64: c.req.query('base64_encoded') === 'true',
})

type AnswerTools = Pick<Tools, 'limits' | 'languages' | 'instances' | 'mostOutputBytes'>

const answerOptions = ({ first }: Judge0Runs, shown: ShownFields, tools: AnswerTools): AnswerOptions => ({
  ...shown,
  limits: tools.limits,
  offers: tools.languages(),
  blobs: tools.instances(first.request.instance).blobs,
  mostBytes: tools.mostOutputBytes,
})

const rulesFor = (c: Context, { languages, awaited, scopeOf, limits, hasCallbacks, mayUseNetwork }: Tools) => ({
  offers: languages(),
  awaited: awaited(),
  instance: scopeOf(c).instance,
  limits,
  hasCallbacks,
  mayUseNetwork: mayUseNetwork(scopeOf(c).instance),
})

function mustBeOpen({ ending, service }: Tools): void {
  if (ending.aborted) throw new Judge0Problem(503, 'the server is stopping', STOPPING_MS)
  service.mustBeOpen()
}

async function bodyOf(c: Context): Promise<unknown> {
  const text = await c.req.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new Judge0Problem(400, 'the body cannot be read as JSON')
  }
}

function errorResponse(error: Error, c: Context, log: Log): Response {
  const problem =
    error instanceof BodyTooLarge ? new Judge0Problem(413, 'the body is too large') : judge0ProblemOf(error)
  if (problem === undefined && !c.req.raw.signal.aborted)
    log.error({ method: c.req.method, path: c.req.path, err: error }, 'judge0 request failed')
  const { status, body, retryAfterMs } = problem ?? JUDGE0_BUG
  if (retryAfterMs !== undefined) c.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  return c.json(body, status as ContentfulStatusCode)
}
