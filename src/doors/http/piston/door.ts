import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import { isOver } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { SnippetRefusal } from '../../../services/snippets/snippet-refusal.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { BodyTooLarge } from '../server/body-limit.ts'
import { takes } from '../server/request-rules.ts'
import { NOT_JSON, PISTON_BUG, PistonProblem, pistonProblemOf } from './problem.ts'
import { offersFor, PISTON_LIMITS, type PistonLimits, type PistonRequest, readExecute } from './request.ts'
import { executeAnswer } from './response.ts'
import { pistonRuntimes } from './runtimes.ts'

export interface PistonDoorOptions {
  readonly service: Pick<
    SnippetService,
    'languages' | 'isAwaited' | 'settled' | 'mustBeOpen' | 'submit' | 'wait' | 'cancel'
  >
  readonly instances: Instances
  readonly clock: Clock
  /** Aborted when the server stops. */
  readonly ending: AbortSignal
  readonly log?: Log
  /** The caller of a request, and the instance whose tasks it may see and make. */
  readonly scopeOf: (c: Context) => CallScope
  readonly limits?: Partial<PistonLimits>
  /** The maximum time until the response, including the time in the queue. */
  readonly mostWaitMs?: number
  /** Limit for each stream. */
  readonly mostOutputBytes?: number
}

interface Tools extends Required<Omit<PistonDoorOptions, 'limits'>> {
  readonly limits: PistonLimits
}

/** Piston's own servers use the first prefix; its public server used the second. */
export const PISTON_PREFIXES = ['/api/v2', '/api/v2/piston'] as const

const STOPPING_MS = 5000

/**
 * The API of Piston, version 2, as routes of the HTTP door. Its `connect` is a WebSocket: see doors/websocket/piston.
 */
export function pistonDoor({ limits, ...options }: PistonDoorOptions): Hono {
  const tools: Tools = {
    log: silentLog,
    mostWaitMs: 10 * 60_000,
    mostOutputBytes: 1024 * 1024,
    ...options,
    limits: { ...PISTON_LIMITS, ...limits },
  }
  const app = new Hono()
  app.onError((error, c) => errorResponse(error, c, tools.log))
  for (const prefix of PISTON_PREFIXES) {
    app.get(`${prefix}/runtimes`, (c) => c.json(pistonRuntimes(tools.service.languages())))
    app.post(`${prefix}/execute`, takes('application/json'), takes('text/plain'), (c) => execute(c, tools))
    app.get(`${prefix}/packages`, (c) => c.json(packages(c, tools)))
    app.on(['POST', 'DELETE'], `${prefix}/packages`, (c) => c.json({ message: FIXED }, 405, { allow: 'GET' }))
  }
  app.all('/api/v2/*', (c) => c.json({ message: 'Not Found' }, 404))
  return app
}

const FIXED = 'Packages cannot be changed here: the workers of this grid determine the languages'

/** The languages that workers offer are the installed packages. */
function packages(c: Context, { service }: Tools): object[] {
  const language = c.req.query('language')
  if (c.req.query('installed') === 'false') return []
  return pistonRuntimes(service.languages())
    .filter((each) => !language || each.language === language || each.aliases.includes(language))
    .map((each) => ({ language: each.language, language_version: each.version, installed: true }))
}

async function execute(c: Context, tools: Tools): Promise<Response> {
  const { service, instances, ending, limits, mostWaitMs: ms, mostOutputBytes: mostBytes } = tools
  if (isText(c) && isFromPage(c)) throw new PistonProblem(NOT_JSON, 415)
  if (ending.aborted) throw stopping()
  service.mustBeOpen()
  const scope = tools.scopeOf(c)
  const { instance } = scope
  const body = await bodyOf(c)
  const rules = {
    offers: await offersFor(body, service, AbortSignal.any([c.req.raw.signal, ending])),
    instance,
    limits,
  }
  const order = readExecute(body, { ...rules, isAwaited: service.isAwaited })
  // The task need not survive a power failure: no client can ask for it afterwards.
  const { id } = await service.submit(scope, order.request, 'process').catch((error: unknown) => {
    throw asUnknown(error, order)
  })
  const signal = AbortSignal.any([c.req.raw.signal, ending])
  const status = await service.wait(scope, id, { ms, signal })
  if (!isOver(status)) {
    await service.cancel(scope, id).catch((error: unknown) => tools.log.warn({ err: error, task: id }, 'not cancelled'))
    throw ending.aborted ? stopping() : new PistonProblem('The program did not end in time', 503, STOPPING_MS)
  }
  const options = { encoding: 'utf8', mostBytes, blobs: instances(instance).blobs } as const
  return c.json(await executeAnswer(status, order.runtime, options))
}

const stopping = (): PistonProblem => new PistonProblem('The server is stopping', 503, STOPPING_MS)

/** If the last worker with the language disconnected meanwhile, the language is reported as unknown. */
function asUnknown(error: unknown, { runtime }: PistonRequest): unknown {
  const isGone = error instanceof SnippetRefusal && error.reason === 'no-worker'
  return isGone ? new PistonProblem(`${runtime.language}-${runtime.version} runtime is unknown`) : error
}

const isText = (c: Context): boolean => /^text\/plain\b/i.test(c.req.header('content-type') ?? '')

/**
 * A common client sends its JSON as text/plain, which any web page can send without a preflight. Pages are recognised
 * by headers that browsers add to every such request and that pages cannot remove.
 */
const isFromPage = (c: Context): boolean =>
  c.req.header('origin') !== undefined ||
  c.req.header('sec-fetch-site') !== undefined ||
  /^Mozilla\//.test(c.req.header('user-agent') ?? '')

async function bodyOf(c: Context): Promise<unknown> {
  const text = await c.req.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new PistonProblem('The body cannot be read as JSON')
  }
}

function errorResponse(error: Error, c: Context, log: Log): Response {
  const problem =
    error instanceof BodyTooLarge ? new PistonProblem('The body is too large', 413) : pistonProblemOf(error)
  if (problem === undefined && !c.req.raw.signal.aborted)
    log.error({ method: c.req.method, path: c.req.path, err: error }, 'piston request failed')
  const { message, status, retryAfterMs } = problem ?? PISTON_BUG
  if (retryAfterMs !== undefined) c.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  return c.json({ message }, status as ContentfulStatusCode)
}
