import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { type HttpError, sendError } from './http-error.ts'

/**
 * A web page may send text and forms to any server without asking it first, but not JSON: so bodies come as JSON, and
 * a route that needs another type says so where it is made: `app.post('/upload', takes('text/x-cwl'), …)`.
 */
export interface TakesOptions {
  /** In place of the door's own limit. */
  readonly maxBytes?: number
}

interface Declared extends TakesOptions {
  readonly type: string
}

/** For `takes`: a body that comes without a content type. */
export const UNTYPED = ''
/** For `takes`: a body with any content type that no other declaration of the route names. */
export const ANY_TYPE = '*/*'

const declarations = new WeakMap<object, Declared>()

/** Declares a type that this route's body may have, instead of JSON; may be given several times. */
export function takes(type: string, options: TakesOptions = {}): MiddlewareHandler {
  const pass: MiddlewareHandler = (_c, next) => next()
  declarations.set(pass, { ...options, type: type.toLowerCase() })
  return pass
}

/** Ends a body that turned out longer than it may be: one sent in chunks does not say its length beforehand. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

export const bodyTooLarge = (maxBytes: number | undefined): HttpError => ({
  kind: 'invalid',
  status: 413,
  message: maxBytes === undefined ? 'The body is too large' : `The body is larger than ${maxBytes} bytes`,
  headers: { connection: 'close' },
})

const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

export const bodyRules =
  (standardMaxBytes: number): MiddlewareHandler =>
  async (c, next) => {
    if (WITHOUT_BODY.has(c.req.method)) return next()
    const declared = declaredBy(c)
    const type = c.req.header('content-type')
    const length = Number(c.req.header('content-length') ?? 0)
    const chunked = c.req.header('transfer-encoding') !== undefined
    if (type === undefined && length === 0 && !chunked) return next()

    const accepted = declared.length > 0 ? declared : [{ type: 'application/json' }]
    const matching = declarationFor(accepted, essence(type))
    if (matching === undefined) {
      const types = accepted.map((one) => one.type)
      return sendError(c, wrongType(types, type))
    }
    const maxBytes = matching.maxBytes ?? standardMaxBytes
    if (length > maxBytes) return sendError(c, bodyTooLarge(maxBytes))
    if (chunked) limitChunks(c, maxBytes)
    return next()
  }

const declaredBy = (c: Context): Declared[] =>
  matchedRoutes(c).flatMap(({ handler }) => declarations.get(findTargetHandler(handler)) ?? [])

const declarationFor = (declared: readonly Declared[], type: string): Declared | undefined =>
  declared.find((one) => one.type === type) ?? declared.find((one) => one.type === ANY_TYPE)

const essence = (type = ''): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const wrongType = (types: readonly string[], type: string | undefined): HttpError => ({
  kind: 'invalid',
  status: 415,
  message: `The body must be ${types.map(inWords).join(' or ')}, not ${inWords(essence(type))}`,
})

const inWords = (type: string): string => (type === UNTYPED ? 'without a content type' : type)

function limitChunks(c: Context, maxBytes: number): void {
  let seen = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength
      if (seen > maxBytes) controller.error(new BodyTooLarge(`more than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
  const body = c.req.raw.body?.pipeThrough(limit) ?? null
  c.req.raw = new Request(c.req.raw, { body, duplex: 'half' })
}
