/**
 * A grid whose journal has no disk space yet. Its doors exist from the start and return UNAVAILABLE (HTTP: 503), so
 * that clients and workers retry; NOT_FOUND or UNIMPLEMENTED would make them stop. The journal is opened again every
 * few seconds. When that succeeds, calls are passed to the real grid, without a restart.
 */
import { type Context, Hono, type Next } from 'hono'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import { sendError } from '../../doors/http/server/http-error.ts'
import type { WebSocketRoute } from '../../doors/http/server/web-sockets.ts'
import type { Method, Service } from '../../grpc/service.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import { parseLogName } from '../../wire/reapi/operation-name.ts'
import type { Grid } from './grid.ts'
import { GRID_METHODS, GRID_SOCKETS } from './grid-methods.ts'
import type { Readiness } from './readiness.ts'

export interface LateGridOptions {
  /** Throws `exhausted` while there is no space. */
  open(): Promise<Grid>
  /** Called before each attempt. */
  makeSpace(): Promise<void>
  /** Why the first attempt failed. */
  readonly first: FaultError
  readonly readiness: Readiness
  readonly clock: Clock
  readonly log: Log
}

const CAUSE = 'journal'
const RETRY_MS = 2000

export function lateGrid({ open, makeSpace, first, readiness, clock, log }: LateGridOptions): Grid {
  let grid: Grid | undefined
  let routes: Hono | undefined
  let isClosed = false
  let cancel = (): void => {}
  let trying: Promise<void> = Promise.resolve()
  let reason = reasonOf(first)
  readiness.hold(CAUSE, reason)
  log.error({ err: first }, 'no disk space for the journal: refusing tasks until space is free')

  const attempt = async (): Promise<void> => {
    await makeSpace()
    const opened = await open()
    if (isClosed) return await opened.close()
    routes = appOf(opened)
    grid = opened
    readiness.release(CAUSE)
    log.info({}, 'journal opened: tasks are accepted again')
  }
  const again = (): void => {
    cancel = clock.after(RETRY_MS, () => {
      trying = attempt().catch((error: unknown) => {
        if (error instanceof FaultError) reason = reasonOf(error)
        if (isClosed) return
        readiness.hold(CAUSE, reason)
        if (!isForLackOfSpace(error)) log.error({ err: error }, 'cannot open the journal')
        again()
      })
    })
  }
  again()
  return {
    services: Object.entries(GRID_METHODS).map(([name, methods]) =>
      lateService(name, methods, () => ({ grid, reason })),
    ),
    doors: [lateDoor(() => ({ routes, reason }))],
    sockets: GRID_SOCKETS.map((route) => lateSocket(route, () => grid)),
    logs: lateLogs(() => ({ grid, reason })),
    refuseTasks: () => grid?.refuseTasks(),
    leave: () => grid?.leave(),
    async close() {
      isClosed = true
      cancel()
      await trying
      await grid?.close()
    },
  }
}

export const isForLackOfSpace = (error: unknown): error is FaultError =>
  error instanceof FaultError && error.fault.kind === 'exhausted'

const reasonOf = (error: FaultError): string => `no task is accepted: ${error.message.replace(/; retry in.*$/, '')}`

interface Late {
  readonly grid: Grid | undefined
  readonly reason: string
}

const unavailable = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })

/** Forwards each method, with all its properties, to the real one as soon as it exists. */
function lateService(name: string, kinds: Readonly<Record<string, Method['kind']>>, late: () => Late): Service {
  const real = (method: string): Method | undefined =>
    late().grid?.services.find((service) => service.name === name)?.methods[method]
  const methodOf = (method: string, kind: Method['kind']): Method => {
    const handle = (): never => {
      throw new GrpcError(STATUS.unavailable, late().reason)
    }
    const waiting = { kind, handle } as Method
    return new Proxy(waiting, { get: (_, key) => Reflect.get(real(method) ?? waiting, key) })
  }
  return {
    name,
    methods: Object.fromEntries(Object.entries(kinds).map(([method, kind]) => [method, methodOf(method, kind)])),
  }
}

/** Paths of the cache, which works without a journal. */
const CACHE_PATH = /(^|\/)(ac|cas)\/[0-9a-f]+$/

function lateDoor(late: () => { readonly routes: Hono | undefined; readonly reason: string }): Hono {
  const app = new Hono()
  app.use('*', async (c, next) => {
    const { routes, reason } = late()
    if (routes !== undefined) return await within(c, next, routes)
    if (CACHE_PATH.test(c.req.path)) return await next()
    return sendError(c, { kind: 'unavailable', message: reason, headers: { 'retry-after': '5' } })
  })
  return app
}

/** Maps a request to the outer app's context, for the routes of the inner app. */
const outerOf = new WeakMap<Request, Context>()
const NOT_HERE = 'x-windlass-not-here'

function appOf({ doors }: Grid): Hono {
  const app = new Hono()
  app.use('*', (c, next) => {
    for (const [name, value] of Object.entries(outerOf.get(c.req.raw)?.var ?? {})) c.set(name as never, value as never)
    return next()
  })
  for (const door of doors) app.route('/', door)
  app.notFound((c) => c.body(null, 404, { [NOT_HERE]: 'true' }))
  return app
}

async function within(c: Context, next: Next, routes: Hono): Promise<Response | undefined> {
  outerOf.set(c.req.raw, c)
  const answer = await routes.fetch(c.req.raw, c.env)
  if (answer.headers.get(NOT_HERE) === null) return answer
  await next()
  return undefined
}

const lateSocket = (
  route: Pick<WebSocketRoute, 'path' | 'maxMessageBytes'>,
  grid: () => Grid | undefined,
): WebSocketRoute => ({
  ...route,
  accept(socket, request) {
    const real = grid()?.sockets.find(({ path }) => path === route.path)
    if (real === undefined)
      socket.close(1013) // try again later
    else real.accept(socket, request)
  },
})

function lateLogs(late: () => Late): Grid['logs'] {
  const logs = (): Grid['logs'] => {
    const { grid, reason } = late()
    if (grid === undefined) throw unavailable(reason)
    return grid.logs
  }
  return {
    nameOf: parseLogName,
    read: (...given) => logs().read(...given),
    write: (...given) => logs().write(...given),
    written: (...given) => logs().written(...given),
    namesFor: (...given) => logs().namesFor(...given),
    services: [],
  }
}
