// For their types only: what is said here of answers is what the API itself holds them to, and nothing of it is served.
import type { LanguagesAnswer, TaskAnswer } from '../../snippets/answers.ts'

/** The code API as far as the page needs it. */
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
export class Refusal extends Error {
  override readonly name = 'Refusal'
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

/** `keepalive` for a page that is about to go. */
export const cancelTask = (id: string, options: Pick<RequestInit, 'keepalive'> = {}): Promise<TaskJson> =>
  ask(`${TASKS}/${encodeURIComponent(id)}/cancel`, {}, options)

export const why = async (id: string): Promise<readonly string[]> =>
  (await ask<{ reasons: readonly string[] }>(`${TASKS}/${encodeURIComponent(id)}/why`)).reasons

async function ask<T>(path: string, body?: object, options: RequestInit = {}): Promise<T> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(path, body === undefined ? options : { ...post, ...options }).catch(() => {
    throw new Refusal('The server does not answer.', 0)
  })
  const told: unknown = await response.json().catch(() => undefined)
  const { code, message, detail, data } = (told ?? {}) as Record<string, unknown>
  if (response.ok && code === 0) return data as T
  throw new Refusal(String(detail ?? message ?? `The server answered ${response.status}.`), response.status)
}
