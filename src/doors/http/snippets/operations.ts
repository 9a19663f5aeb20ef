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

/** The operations of the API, for its OpenAPI document; a test holds it against the routes that there are. */
export interface ApiOperation {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly parameters?: readonly ApiParameter[]
  readonly body?: z.ZodType
  /** Inside the envelope; a word for what comes without one. */
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
  about: 'Answer when the task is over, or after this time: "30s". At most a minute; ask again after that.',
}
const ENCODING: ApiParameter = {
  name: 'encoding',
  in: 'query',
  about: 'utf8 (the default: what is no UTF-8 is replaced) or base64.',
}
const KEY: ApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  about: 'Two requests with the same key are one, for as long as the task is remembered.',
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
    summary: 'Run a program. With wait the answer is the whole task.',
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
    summary: 'Run up to a hundred programs. Each is accepted or refused for itself.',
    body: batchBody,
    answer: batchAnswer,
    status: 200,
    problems: SUBMITTING,
  },
  {
    method: 'get',
    path: '/api/v1/tasks',
    name: 'listTasks',
    summary: 'Tasks, the newest first, without their results. A page may be short, and still have one that follows.',
    parameters: [
      { name: 'status', in: 'query', about: 'One or several, with commas.' },
      { name: 'language', in: 'query', about: 'Its name or an alias.' },
      {
        name: 'metadata.{key}',
        in: 'query',
        about: 'Only tasks with this value under the key; several must all be there.',
      },
      { name: 'limit', in: 'query', about: '1 to 500; 50 unless said.' },
      { name: 'cursor', in: 'query', about: 'nextCursor of the page before.' },
    ],
    answer: listAnswer,
    problems: ['query'],
  },
  {
    method: 'get',
    path: TASK,
    name: 'getTask',
    summary: 'How a task stands, and what came of it.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'delete',
    path: TASK,
    name: 'deleteTask',
    summary: 'Cancel a task. Nothing happens to one that is over; one that runs is stopped, which takes its moment.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'post',
    path: `${TASK}/cancel`,
    name: 'cancelTask',
    summary: 'The same, for clients that cannot DELETE.',
    parameters: [ID, WAIT, ENCODING],
    answer: taskAnswerForm,
    problems: ['noTask', 'amount', 'query'],
  },
  {
    method: 'post',
    path: `${TASK}/rerun`,
    name: 'rerunTask',
    summary: 'Run the same once more, as a task of its own.',
    parameters: [ID, WAIT, ENCODING],
    answer: submittedAnswer,
    status: 200,
    problems: ['noTask', 'noWorker', 'quota', 'unavailable'],
  },
  {
    method: 'get',
    path: `${TASK}/events`,
    name: 'followTask',
    summary: 'Its states and its output as they come.',
    parameters: [ID, ENCODING, { name: 'Last-Event-ID', in: 'header', about: 'Go on after this event.' }],
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
    summary: 'In words, what a task waits for, or what came of it.',
    parameters: [ID],
    answer: whyAnswer,
    problems: ['noTask', 'query'],
  },
  {
    method: 'get',
    path: `${TASK}/artifacts/{path}`,
    name: 'getArtifact',
    summary: 'A file that the task made, or the whole of what a stage printed: .windlass/run.stdout.',
    parameters: [ID, { name: 'path', in: 'path', about: 'As the task tells it, with its slashes.' }],
    answer: { type: 'application/octet-stream', about: 'Its bytes.' },
    problems: ['noTask', 'noArtifact'],
  },
  {
    method: 'get',
    path: `${TASK}/deliveries`,
    name: 'listDeliveries',
    summary: 'What came of its callback, try by try.',
    parameters: [ID],
    answer: deliveriesAnswer,
    problems: ['noTask', 'noArtifact', 'query'],
  },
  {
    method: 'get',
    path: '/api/v1/languages',
    name: 'listLanguages',
    summary: 'Languages that live workers have.',
    answer: languagesAnswer,
    problems: ['query'],
  },
]
