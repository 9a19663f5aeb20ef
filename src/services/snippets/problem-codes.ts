import type { Fault } from '../../base/fault.ts'
import type { RefusalReason } from './snippet-refusal.ts'

/** One row of the table of codes. */
export interface ApiCode {
  readonly code: number
  /** HTTP status of the answer. */
  readonly status: number
  readonly message: string
  /** For people: when the code occurs, and what to do. */
  readonly means: string
}

/**
 * Every code that the code door returns: the HTTP status, then two digits. `docs/guide/api-codes.md` is generated from
 * this table. The meaning of a code never changes; a new meaning gets a new code.
 */
export const API_CODES = {
  success: {
    code: 0,
    status: 200,
    message: 'success',
    means: 'All went well.',
  },
  notJson: {
    code: 40001,
    status: 400,
    message: 'Body is not JSON',
    means: 'The body cannot be read. Send one JSON object, in UTF-8.',
  },
  invalid: {
    code: 40002,
    status: 400,
    message: 'Invalid request',
    means: 'A field of the request is invalid; `detail` names the field and the values that it may have.',
  },
  unknownField: {
    code: 40003,
    status: 400,
    message: 'Unknown field',
    means: 'The body has an unknown field; `detail` names it and the most similar known one.',
  },
  language: {
    code: 40004,
    status: 400,
    message: 'Unknown language',
    means: 'No language has this name or alias. `GET /api/v1/languages` lists the available languages.',
  },
  version: {
    code: 40005,
    status: 400,
    message: 'No such version',
    means: 'Workers offer the language, but not in this version; `detail` lists the available versions.',
  },
  amount: {
    code: 40006,
    status: 400,
    message: 'Invalid duration or size',
    means:
      'A duration, a size or a number of processors is malformed or out of range; valid ones look like `30s`, `256MB` and `1.0`.',
  },
  query: {
    code: 40007,
    status: 400,
    message: 'Invalid query',
    means: 'A query parameter is unknown or malformed.',
  },
  callback: {
    code: 40008,
    status: 400,
    message: 'Callback not allowed',
    means:
      'The server may not call this callback URL: it must be http(s), and private addresses are allowed only where the operator lists them.',
  },
  denied: {
    code: 40301,
    status: 403,
    message: 'Not allowed',
    means:
      'The request came from a web page of another origin, or names a host that this server does not serve; `detail` names the setting that allows it.',
  },
  network: {
    code: 40302,
    status: 403,
    message: 'Network not granted',
    means:
      'The task asks for a network, and the operator does not grant one to this instance and door; `detail` names the setting. Ask the operator, or send the task without `network`.',
  },
  noTask: {
    code: 40401,
    status: 404,
    message: 'No such task',
    means: 'No task has this id, or the task ended so long ago that the server has deleted it.',
  },
  noArtifact: {
    code: 40402,
    status: 404,
    message: 'No such artifact',
    means: 'The task has no output of this name, or no callback, or has not ended yet.',
  },
  noRoute: {
    code: 40403,
    status: 404,
    message: 'No such address',
    means: 'This path does not exist. `/api` lists the existing ones.',
  },
  method: {
    code: 40501,
    status: 405,
    message: 'Method not allowed',
    means: 'The path does not support this method; `detail` and the header `Allow` name the supported ones.',
  },
  key: {
    code: 40901,
    status: 409,
    message: 'Idempotency key reused',
    means: 'An earlier request with other content used this key. Use a new key for each new request.',
  },
  tooLarge: {
    code: 41301,
    status: 413,
    message: 'Request too large',
    means: 'The body, or the task that it describes, exceeds a size limit; `detail` names the limit.',
  },
  mediaType: {
    code: 41501,
    status: 415,
    message: 'Body must be JSON',
    means: 'Send `Content-Type: application/json`.',
  },
  rate: {
    code: 42901,
    status: 429,
    message: 'Too many requests',
    means: 'This caller sends too many requests; retry after `retryAfter` seconds.',
  },
  quota: {
    code: 42902,
    status: 429,
    message: 'Quota used up',
    means:
      'This instance has reached its limit of unfinished tasks or of submissions per second; retry after `retryAfter` seconds.',
  },
  bug: {
    code: 50001,
    status: 500,
    message: 'Internal error',
    means: 'An error in the server; a retry does not help. The log of the server has the details.',
  },
  noWorker: {
    code: 50301,
    status: 503,
    message: 'No available client nodes',
    means:
      'No live worker has the language or is testing it, or the queue is full; retry after `retryAfter` seconds. Busy workers do not cause this error: the task is then queued.',
  },
  unavailable: {
    code: 50302,
    status: 503,
    message: 'Temporarily unavailable',
    means: 'The server is stopping or cannot write its journal; retry after `retryAfter` seconds.',
  },
} as const satisfies Record<string, ApiCode>

export type ApiCodeName = keyof typeof API_CODES

/**
 * Total: a new kind of fault does not compile without a code. `missing`, `cancelled` and `late` do not reach clients of
 * this API: they are only logged.
 */
export const CODE_OF_FAULT = {
  invalid: 'invalid',
  denied: 'denied',
  absent: 'noTask',
  missing: 'bug',
  exhausted: 'quota',
  unavailable: 'unavailable',
  cancelled: 'unavailable',
  late: 'unavailable',
  bug: 'bug',
} as const satisfies Record<Fault['kind'], ApiCodeName>

export const CODE_OF_REFUSAL = {
  language: 'language',
  version: 'version',
  'no-worker': 'noWorker',
  key: 'key',
  callback: 'callback',
  network: 'network',
} as const satisfies Record<RefusalReason, ApiCodeName>
