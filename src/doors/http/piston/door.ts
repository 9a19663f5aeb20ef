import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import { isOver } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { SnippetRefusal } from '../../../services/snippets/snippet-refusal.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { BodyTooLarge, takes } from '../server/body-rules.ts'
import { NOT_JSON, PISTON_BUG, PistonProblem, pistonProblemOf } from './problem.ts'
import { offersFor, PISTON_LIMITS, type PistonLimits, type PistonRequest, readExecute } from './request.ts'
import { executeAnswer } from './response.ts'
import { pistonRuntimes } from './runtimes.ts'

export interface PistonDoorOptions {
  readonly desk: Pick<
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
  /** For an answer, the time in the queue included. */
  readonly mostWaitMs?: number
  /** Limit for each stream. */
  readonly mostOutputBytes?: number
}

interface Tools extends Required<Omit<PistonDoorOptions, 'limits'>> {
  readonly limits: PistonLimits
}

/** Its own servers have the first, the public one had the second. */
export const PISTON_PREFIXES = ['/api/v2', '/api/v2/piston'] as const

const STOPPING_MS = 5000

/** The API of Piston, version 2, to be hung on the HTTP door. Its `connect` is a WebSocket: see connect.ts. */
export function pistonDoor({ limits, ...options }: PistonDoorOptions): Hono {
  const tools: Tools = {
    log: silentLog,
    mostWaitMs: 10 * 60_000,
    mostOutputBytes: 1024 * 1024,
    ...options,
    limits: { ...PISTON_LIMITS, ...limits },
  }
  const app = new Hono()
  app.onError((error, c) => tell(error, c, tools.log))
  for (const prefix of PISTON_PREFIXES) {
    app.get(`${prefix}/runtimes`, (c) => c.json(pistonRuntimes(tools.desk.languages())))
    app.post(`${prefix}/execute`, takes('application/json'), takes('text/plain'), (c) => execute(c, tools))
    app.get(`${prefix}/packages`, (c) => c.json(packages(c, tools)))
    app.on(['POST', 'DELETE'], `${prefix}/packages`, (c) => c.json({ message: FIXED }, 405, { allow: 'GET' }))
  }
  app.all('/api/v2/*', (c) => c.json({ message: 'Not Found' }, 404))
  return app
}

const FIXED = 'Packages cannot be changed here: what there is, is what the workers of this grid offer'

/** The languages that workers offer are the installed packages. */
function packages(c: Context, { desk }: Tools): object[] {
  const language = c.req.query('language')
  if (c.req.query('installed') === 'false') return []
  return pistonRuntimes(desk.languages())
    .filter((each) => !language || each.language === language || each.aliases.includes(language))
    .map((each) => ({ language: each.language, language_version: each.version, installed: true }))
}

async function execute(c: Context, tools: Tools): Promise<Response> {
  const { desk, instances, ending, limits, mostWaitMs: ms, mostOutputBytes: mostBytes } = tools
  if (isText(c) && isFromPage(c)) throw new PistonProblem(NOT_JSON, 415)
  if (ending.aborted) throw stopping()
  desk.mustBeOpen()
  const scope = tools.scopeOf(c)
  const { instance } = scope
  const body = await bodyOf(c)
  const rules = { offers: await offersFor(body, desk, AbortSignal.any([c.req.raw.signal, ending])), instance, limits }
  const order = readExecute(body, { ...rules, isAwaited: desk.isAwaited })
  // A client cannot ask for this task after a power failure.
  const { id } = await desk.submit(scope, order.request, 'process').catch((error: unknown) => {
    throw asUnknown(error, order)
  })
  const signal = AbortSignal.any([c.req.raw.signal, ending])
  const status = await desk.wait(scope, id, { ms, signal })
  if (!isOver(status)) {
    await desk.cancel(scope, id).catch((error: unknown) => tools.log.warn({ err: error, task: id }, 'not cancelled'))
    throw ending.aborted ? stopping() : new PistonProblem('It was not over in time', 503, STOPPING_MS)
  }
  const wish = { encoding: 'utf8', mostBytes, blobs: instances(instance).blobs } as const
  return c.json(await executeAnswer(status, order.runtime, wish))
}

const stopping = (): PistonProblem => new PistonProblem('The server is stopping', 503, STOPPING_MS)

/** The last worker that had it may have gone in between: then it is unknown, as it would have been a moment later. */
function asUnknown(error: unknown, { runtime }: PistonRequest): unknown {
  const isGone = error instanceof SnippetRefusal && error.reason === 'no-worker'
  return isGone ? new PistonProblem(`${runtime.language}-${runtime.version} runtime is unknown`) : error
}

const isText = (c: Context): boolean => /^text\/plain\b/i.test(c.req.header('content-type') ?? '')

/**
 * A client in wide use sends its JSON as text, as any web page could send it too without asking first. Pages are known by
 * what their browsers put into every such request, and they cannot take out.
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

function tell(error: Error, c: Context, log: Log): Response {
  const problem =
    error instanceof BodyTooLarge ? new PistonProblem('The body is too large', 413) : pistonProblemOf(error)
  if (problem === undefined && !c.req.raw.signal.aborted)
    log.error({ method: c.req.method, path: c.req.path, err: error }, 'piston request failed')
  const { message, status, retryAfterMs } = problem ?? PISTON_BUG
  if (retryAfterMs !== undefined) c.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  return c.json({ message }, status as ContentfulStatusCode)
}
