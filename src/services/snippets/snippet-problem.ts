import { type Fault, FaultError } from '../../base/fault.ts'
import { API_CODES, type ApiCodeName, CODE_OF_FAULT, CODE_OF_REFUSAL } from './problem-codes.ts'
import { SnippetRefusal } from './snippet-refusal.ts'

/** An error response, with a code of the table. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly code: ApiCodeName
  readonly retryAfterMs: number | undefined

  constructor(code: ApiCodeName, detail: string, retryAfterMs?: number) {
    super(detail)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** The retry time of the example in the API description. */
const NO_WORKER_MS = 30_000
const UNAVAILABLE_MS = 5000

/** Undefined for an error that is not a fault: a bug. */
export function problemOf(error: unknown): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error
  if (error instanceof SnippetRefusal) {
    const retryAfterMs = error.reason === 'no-worker' ? NO_WORKER_MS : undefined
    return new ApiProblem(CODE_OF_REFUSAL[error.reason], sentence(error.message), retryAfterMs)
  }
  if (!(error instanceof FaultError)) return undefined
  const { fault } = error
  switch (fault.kind) {
    case 'exhausted':
      return exhausted(fault)
    case 'unavailable':
      return new ApiProblem('unavailable', sentence(fault.what), UNAVAILABLE_MS)
    case 'invalid':
      return new ApiProblem(fault.why === 'range' ? 'tooLarge' : 'invalid', sentence(fault.what))
    case 'bug':
      return undefined
    default:
      return new ApiProblem(CODE_OF_FAULT[fault.kind], sentence(error.message))
  }
}

/** Every limit but those of the queue and the disk belongs to the instance. */
function exhausted({ resource, retryAfterMs, why }: Extract<Fault, { kind: 'exhausted' }>): ApiProblem {
  if (why === 'queue') return new ApiProblem('noWorker', 'The queue is full', retryAfterMs)
  if (why === 'disk') return new ApiProblem('unavailable', `The server has no ${resource}`, retryAfterMs)
  return new ApiProblem('quota', sentence(`${resource} is used up`), retryAfterMs)
}

/** A word with a colon is a field name, so it keeps its case. */
const sentence = (what: string): string =>
  /^[\w.]+: /.test(what) ? what : what.charAt(0).toUpperCase() + what.slice(1)

export interface ProblemBody {
  readonly code: number
  readonly message: string
  readonly detail: string
  readonly retryAfter?: number
}

export function problemBody({ code, message, retryAfterMs }: ApiProblem): ProblemBody {
  const retryAfter = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000))
  return {
    code: API_CODES[code].code,
    message: API_CODES[code].message,
    detail: message,
    ...(retryAfter !== undefined && { retryAfter }),
  }
}
