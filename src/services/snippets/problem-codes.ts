import type { Fault } from '../../base/fault.ts'
import type { RefusalReason } from './snippet-refusal.ts'

/** One row of the table of codes. */
export interface ApiCode {
  readonly code: number
  /** HTTP status of the answer. */
  readonly status: number
  readonly message: string
  /** For people: when it comes, and what to do. */
  readonly means: string
}

/**
 * Every code that the code door answers with: the HTTP status, then two digits. `docs/guide/api-codes.md` is made from
 * this table. A code keeps its meaning for ever; a new meaning gets a new one.
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
    means: 'Something in the request cannot be; `detail` names the field and says what would do.',
  },
  unknownField: {
    code: 40003,
    status: 400,
    message: 'Unknown field',
    means: 'The body has a field that no task has; `detail` names it and the nearest one that exists.',
  },
  language: {
    code: 40004,
    status: 400,
    message: 'Unknown language',
    means: 'No language has this name or alias here. `GET /api/v1/languages` lists those that can be run now.',
  },
  version: {
    code: 40005,
    status: 400,
    message: 'No such version',
    means: 'Workers have the language, but no version of it that fits; `detail` lists those there are.',
  },
  amount: {
    code: 40006,
    status: 400,
    message: 'Invalid duration or size',
    means: 'A word such as `30s`, `256MB` or `1.0` is not written like that, or is out of range.',
  },
  query: {
    code: 40007,
    status: 400,
    message: 'Invalid query',
    means: 'A parameter of the address is unknown or cannot be read.',
  },
  callback: {
    code: 40008,
    status: 400,
    message: 'Callback not allowed',
    means:
      'The callback is not an http(s) address that may be called from here: private addresses are not, unless the server is configured to.',
  },
  denied: {
    code: 40301,
    status: 403,
    message: 'Not allowed',
    means:
      'A web page of another origin asked, or the request was for a host that is not served here; `detail` names the setting that would allow it.',
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
    means: 'No task has this id, or it is over for so long that it was forgotten.',
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
    means: 'Nothing is at this address. `/api` shows what there is.',
  },
  method: {
    code: 40501,
    status: 405,
    message: 'Method not allowed',
    means:
      'Something is at this address, but not for this method; `detail` and the header `Allow` name those that are.',
  },
  key: {
    code: 40901,
    status: 409,
    message: 'Idempotency key reused',
    means: 'The same key came with another request before. Use a new one for a new request.',
  },
  tooLarge: {
    code: 41301,
    status: 413,
    message: 'Request too large',
    means: 'The body, or what it makes of the task, is larger than may be; `detail` says which.',
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
    means: 'Slow down; come back after `retryAfter` seconds.',
  },
  quota: {
    code: 42902,
    status: 429,
    message: 'Quota used up',
    means:
      'This instance has as many unfinished tasks, or submits as fast, as it may; come back after `retryAfter` seconds.',
  },
  bug: {
    code: 50001,
    status: 500,
    message: 'Internal error',
    means: 'Ours, and asking again does not help. The log of the server says more.',
  },
  noWorker: {
    code: 50301,
    status: 503,
    message: 'No available client nodes',
    means:
      'No live worker has the language or is testing it, or the queue is full; come back after `retryAfter` seconds. Workers that are merely busy are no reason: the task is queued then.',
  },
  unavailable: {
    code: 50302,
    status: 503,
    message: 'Temporarily unavailable',
    means: 'The server is stopping or cannot write its journal; ask again after `retryAfter` seconds.',
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
