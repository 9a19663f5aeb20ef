import type { z } from 'zod'
import type { ApiCodeName } from '../../../services/snippets/problem-codes.ts'
import {
  batchAnswer,
  deliveriesAnswer,
  languagesAnswer,
  listAnswer,
  submittedAnswer,
  taskAnswerForm,
  whyAnswer,
} from './answers.ts'
import { batchBody, taskBody } from './task-body.ts'

/** The operations of the API, for its OpenAPI document. A test compares them with the actual routes. */
export interface ApiOperation {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly parameters?: readonly ApiParameter[]
  readonly body?: z.ZodType
  /** Inside the envelope; a description for an answer without one. */
  readonly answer: z.ZodType | { readonly type: string; readonly about: string }
  readonly status?: number
  readonly problems: readonly ApiCodeName[]
}

export interface ApiParameter {
  readonly name: string
  readonly in: 'query' | 'header' | 'path'
  readonly about: string
}

const ID: ApiParameter = { name: 'id', in: 'path', about: 'The taskId.' }
const WAIT: ApiParameter = {
  name: 'wait',
  in: 'query',
  about:
    'Respond when the task has ended, or after this time, such as "30s". The limit is one minute; then send the request again.',
}
const ENCODING: ApiParameter = {
  name: 'encoding',
  in: 'query',
  about: 'utf8 (the default; invalid UTF-8 is replaced) or base64.',
}
const KEY: ApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  about: 'A repeated request with the same key returns the first task, as long as the server keeps that task.',
}
const SUBMITTING = [
  'notJson',
  'invalid',
  'unknownField',
  'amount',
  'tooLarge',
  'mediaType',
  'rate',
  'quota',
  'unavailable',
] as const
const TASK = '/api/v1/tasks/{id}'

export const API_OPERATIONS: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/api/v1/tasks',
    name: 'submitTask',
    summary: 'Run a program. With wait, the response contains the finished task.',
    parameters: [WAIT, ENCODING, KEY],
    body: taskBody,
    answer: submittedAnswer,
    status: 200,
    problems: [...SUBMITTING, 'language', 'version', 'callback', 'key', 'noWorker'],
  },
  {
    method: 'post',
    path: '/api/v1/tasks/batch',
    name: 'submitTasks',
    summary: 'Run up to a hundred programs. Each one is accepted or refused separately.',
    body: batchBody,
    answer: batchAnswer,
    status: 200,
    problems: SUBMITTING,
  },
  {
    method: 'get',
    path: '/api/v1/tasks',
    name: 'listTasks',
    summary:
      'Lists tasks without their results, newest first. A page may have fewer entries than the limit although another page follows.',
    parameters: [
      { name: 'status', in: 'query', about: 'One state, or several separated by commas.' },
      { name: 'language', in: 'query', about: 'The name or an alias of a language.' },
      {
        name: 'metadata.{key}',
        in: 'query',
        about: 'Only tasks whose metadata has this value under this key; with several parameters, all must match.',
      },
      { name: 'limit', in: 'query', about: '1 to 500 (default 50).' },
      { name: 'cursor', in: 'query', about: 'The nextCursor of the previous page.' },
    ],
    answer: listAnswer,
    problems: ['query'],
  },
  {
    method: 'get',
    path: TASK,
    name: 'getTask',
    summary: 'The state of a task and, when it has ended, its result.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'delete',
    path: TASK,
    name: 'deleteTask',
    summary: 'Cancel a task. A finished task does not change; a running task is stopped, which may take a few seconds.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'post',
    path: `${TASK}/cancel`,
    name: 'cancelTask',
    summary: 'The same as DELETE, for clients that cannot send DELETE.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'post',
    path: `${TASK}/rerun`,
    name: 'rerunTask',
    summary: 'Run the same program again, as a new task.',
    parameters: [ID, WAIT, ENCODING],
    answer: submittedAnswer,
    status: 200,
    problems: ['noTask', 'noWorker', 'quota', 'unavailable'],
  },
  {
    method: 'get',
    path: `${TASK}/events`,
    name: 'followTask',
    summary: 'The state changes and the output of a task, as a stream.',
    parameters: [
      ID,
      ENCODING,
      { name: 'Last-Event-ID', in: 'header', about: 'Resume the stream after the event with this id.' },
    ],
    answer: {
      type: 'text/event-stream',
      about: 'Events state (a task), output ({stream, attempt, text, missed}) and, last, end (the whole task).',
    },
    problems: ['noTask'],
  },
  {
    method: 'get',
    path: `${TASK}/why`,
    name: 'explainTask',
    summary: 'The reason, as text, why a task is waiting, or how it ended.',
    parameters: [ID],
    answer: whyAnswer,
    problems: ['noTask', 'query'],
  },
  {
    method: 'get',
    path: `${TASK}/artifacts/{path}`,
    name: 'getArtifact',
    summary: 'An output file of the task, or the complete output of a stage, such as .windlass/run.stdout.',
    parameters: [ID, { name: 'path', in: 'path', about: 'The path of an artifact of the task, with its slashes.' }],
    answer: { type: 'application/octet-stream', about: 'Its bytes.' },
    problems: ['noTask', 'noArtifact'],
  },
  {
    method: 'get',
    path: `${TASK}/deliveries`,
    name: 'listDeliveries',
    summary: 'Each attempt to deliver the callback of a task, and its outcome.',
    parameters: [ID],
    answer: deliveriesAnswer,
    problems: ['noTask', 'noArtifact', 'query'],
  },
  {
    method: 'get',
    path: '/api/v1/languages',
    name: 'listLanguages',
    summary: 'The languages that live workers offer.',
    answer: languagesAnswer,
    problems: ['query'],
  },
]
