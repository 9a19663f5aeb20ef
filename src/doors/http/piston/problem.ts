import type { Context } from 'hono'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { problemOf } from '../../../services/snippets/snippet-problem.ts'
import { type HttpError, statusOf } from '../server/http-error.ts'

/** A refusal in Piston's format: a status, and a body with one message. */
export class PistonProblem extends Error {
  override readonly name = 'PistonProblem'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(message: string, status = 400, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Returns undefined for an error that is not a fault, and so is a bug. */
export function pistonProblemOf(error: unknown): PistonProblem | undefined {
  if (error instanceof PistonProblem) return error
  const problem = problemOf(error)
  return problem && new PistonProblem(problem.message, API_CODES[problem.code].status, problem.retryAfterMs)
}

export const PISTON_BUG = new PistonProblem('Internal error; see the log of the server', 500)

const isPistonPath = (path: string): boolean => path === '/api/v2' || path.startsWith('/api/v2/')

export const NOT_JSON = 'requests must be of type application/json'

/** The body of a refusal before the routes, in Piston's format; undefined for paths of other doors. */
export function pistonError(c: Context, error: HttpError): object | undefined {
  if (!isPistonPath(c.req.path)) return undefined
  return { message: statusOf(error) === 415 ? NOT_JSON : error.message }
}
