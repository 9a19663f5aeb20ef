import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Fault } from '../../../base/fault.ts'

/** The status of a fault where the route sets none. Total: a new kind of fault does not compile without its status. */
const HTTP_STATUS = {
  invalid: 400,
  denied: 403,
  absent: 404,
  missing: 409,
  exhausted: 429,
  cancelled: 499,
  bug: 500,
  unavailable: 503,
  late: 504,
} as const satisfies Record<Fault['kind'], number> & Record<string, number>

type ErrorKind = keyof typeof HTTP_STATUS

/** The one shape of every error that this door sends. */
export interface HttpError {
  readonly kind: ErrorKind
  readonly message: string
  /** Where HTTP has a more specific status than that of the kind: 405, 413, 415. */
  readonly status?: ContentfulStatusCode
  readonly headers?: Readonly<Record<string, string>>
}

export const statusOf = ({ kind, status }: HttpError): number => status ?? HTTP_STATUS[kind]

export const errorBody = ({ kind, message }: HttpError) => ({ error: { kind, message } })

/** Returns the error body that clients of a door expect; undefined for the paths of other doors. */
export type ErrorShape = (c: Context, error: HttpError) => object | undefined

export const firstShape =
  (shapes: readonly ErrorShape[]): ErrorShape =>
  (c, error) => {
    for (const shape of shapes) {
      const body = shape(c, error)
      if (body !== undefined) return body
    }
    return undefined
  }

declare module 'hono' {
  interface ContextVariableMap {
    errorShape: ErrorShape
  }
}

export const sendError = (c: Context, error: HttpError): Response =>
  c.json(c.get('errorShape')?.(c, error) ?? errorBody(error), statusOf(error) as ContentfulStatusCode, error.headers)
