import type { Context } from 'hono'
import { FaultError } from '../../../base/fault.ts'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { type ApiProblem, problemOf } from '../../../services/snippets/snippet-problem.ts'
import type { HttpError } from '../server/http-error.ts'

/** Messages per field; `base` for the whole submission. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>

/** A refusal in Judge0's format: one error message, or one list of messages per field. */
export class Judge0Problem extends Error {
  override readonly name = 'Judge0Problem'
  readonly status: number
  readonly body: object
  readonly retryAfterMs: number | undefined

  constructor(status: number, said: string | FieldErrors, retryAfterMs?: number) {
    super(typeof said === 'string' ? said : JSON.stringify(said))
    this.status = status
    this.body = typeof said === 'string' ? { error: said } : said
    this.retryAfterMs = retryAfterMs
  }
}

/** Returns undefined for an error that is not a fault, and so is a bug. */
export function judge0ProblemOf(error: unknown): Judge0Problem | undefined {
  if (error instanceof Judge0Problem) return error
  if (error instanceof FaultError && error.fault.kind === 'exhausted' && error.fault.why === 'queue')
    return new Judge0Problem(API_CODES.noWorker.status, QUEUE_IS_FULL, error.fault.retryAfterMs)
  const problem = problemOf(error)
  return problem && judge0Problem(problem)
}

const QUEUE_IS_FULL = 'queue is full'

function judge0Problem({ code, message, retryAfterMs }: ApiProblem): Judge0Problem {
  if (code === 'callback') return new Judge0Problem(422, { callback_url: [message] })
  if (code === 'invalid' || code === 'tooLarge') return new Judge0Problem(422, { base: [message] })
  return new Judge0Problem(API_CODES[code].status, message, retryAfterMs)
}

export const JUDGE0_BUG = new Judge0Problem(500, 'Internal error; see the log of the server')

/** Paths whose responses have Judge0's format. */
const PATHS = /^(?:\/judge0(?:\/|$)|\/(?:submissions|languages|statuses|config_info|workers|about|version)(?:\/|$))/

/** The body of a refusal before the routes, in Judge0's format; undefined for paths of other doors. */
export const judge0Error = (c: Context, error: HttpError): object | undefined =>
  PATHS.test(c.req.path) ? { error: error.message } : undefined
