import type { Context } from 'hono'
import { API_CODES, type ApiCodeName } from '../../../services/snippets/problem-codes.ts'
import { type HttpError, statusOf } from '../server/http-error.ts'

/** Where answers have the envelope of the code door; workers and submissions have others under the same prefix. */
const isCodeDoor = (path: string): boolean => /^\/api\/v1\/(?:tasks|languages)(?:\/|$)/.test(path)

const CODE_OF_STATUS: Readonly<Record<number, ApiCodeName>> = {
  400: 'invalid',
  403: 'denied',
  404: 'noRoute',
  405: 'method',
  413: 'tooLarge',
  415: 'mediaType',
  429: 'rate',
  500: 'bug',
  503: 'unavailable',
}

/** A refusal from in front of the routes, as the code door's callers expect it; undefined where others do. */
export function snippetError(c: Context, error: HttpError): object | undefined {
  const name = isCodeDoor(c.req.path) ? CODE_OF_STATUS[statusOf(error)] : undefined
  if (name === undefined) return undefined
  const { code, message } = API_CODES[name]
  const retryAfter = error.headers?.['retry-after']
  return { code, message, detail: error.message, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) }
}
