// Imported for the types only: the page uses the API's own answer types, and serves nothing of this module.
import type { LanguagesAnswer, TaskAnswer } from '../../snippets/answers.ts'

/** The part of the code API that the page uses. */
export type LanguageJson = Pick<LanguagesAnswer['languages'][number], 'name' | 'title' | 'aliases' | 'versions'>
export type StageJson = NonNullable<TaskAnswer['result']>['stages'][number]
export interface TaskJson extends Pick<TaskAnswer, 'taskId' | 'status' | 'attempt' | 'cached' | 'failure'> {
  readonly result?: Pick<NonNullable<TaskAnswer['result']>, 'stages'>
}

export interface Program {
  readonly language: string
  readonly version?: string
  readonly code: string
  readonly stdin: string
}

export interface OutputJson {
  readonly stream: 'stdout' | 'stderr'
  readonly attempt: number
  readonly text: string
  readonly missed: number
}

/** A refusal of the API, with its text. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

const TASKS = '/api/v1/tasks'

export const eventsOf = (id: string): string => `${TASKS}/${encodeURIComponent(id)}/events`

export const languages = async (): Promise<readonly LanguageJson[]> =>
  (await ask<{ languages: readonly LanguageJson[] }>('/api/v1/languages')).languages

export const submitProgram = async (program: Program): Promise<string> =>
  (await ask<{ taskId: string }>(TASKS, program)).taskId

export const fetchTask = (id: string): Promise<TaskJson> => ask(`${TASKS}/${encodeURIComponent(id)}`)

/** `keepalive` is for a page that is being closed. */
export const cancelTask = (id: string, options: Pick<RequestInit, 'keepalive'> = {}): Promise<TaskJson> =>
  ask(`${TASKS}/${encodeURIComponent(id)}/cancel`, {}, options)

export const why = async (id: string): Promise<readonly string[]> =>
  (await ask<{ reasons: readonly string[] }>(`${TASKS}/${encodeURIComponent(id)}/why`)).reasons

async function ask<T>(path: string, body?: object, options: RequestInit = {}): Promise<T> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(path, body === undefined ? options : { ...post, ...options }).catch(() => {
    throw new ApiError('The server does not answer.', 0)
  })
  const json: unknown = await response.json().catch(() => undefined)
  const { code, message, detail, data } = (json ?? {}) as Record<string, unknown>
  if (response.ok && code === 0) return data as T
  throw new ApiError(String(detail ?? message ?? `The server answered ${response.status}.`), response.status)
}
