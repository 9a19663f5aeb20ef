import type { Context } from 'hono'
import { API_CODES, type ApiCodeName } from '../../../services/snippets/problem-codes.ts'
import { type HttpError, statusOf } from '../server/http-error.ts'

/**
 * Whether responses have the envelope of the code door. Workers and workflow runs have other envelopes under the same
 * prefix.
 */
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

/** The body of a refusal before the routes, in the format of the code door; undefined for paths of other doors. */
export function snippetError(c: Context, error: HttpError): object | undefined {
  const name = isCodeDoor(c.req.path) ? CODE_OF_STATUS[statusOf(error)] : undefined
  if (name === undefined) return undefined
  const { code, message } = API_CODES[name]
  const retryAfter = error.headers?.['retry-after']
  return { code, message, detail: error.message, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) }
}
