import type { Clock } from '../../base/clock.ts'
import { isOver } from '../../model/snippet.ts'
import { serverEvents } from './event-lines.ts'
import type {
  LanguageView,
  NewSnippet,
  OutputFileView,
  SnippetListPage,
  SnippetListQuery,
  SnippetTaskView,
  SubmittedTask,
  TaskEvent,
} from './snippet-answers.ts'

export interface SnippetsClientOptions {
  /** `http://127.0.0.1:8080` */
  readonly url: string
  readonly token?: string
  readonly clock: Clock
}

/** The code API. What the server refuses is thrown as a SnippetsError. */
export interface SnippetsClient {
  submit(task: NewSnippet, signal?: AbortSignal): Promise<SubmittedTask>
  /** Submits it and stays until it is over. */
  run(task: NewSnippet, signal?: AbortSignal): Promise<SnippetTaskView>
  get(id: string, signal?: AbortSignal): Promise<SnippetTaskView>
  /** Until it is over. */
  wait(id: string, signal?: AbortSignal): Promise<SnippetTaskView>
  list(query?: SnippetListQuery, signal?: AbortSignal): Promise<SnippetListPage>
  cancel(id: string, signal?: AbortSignal): Promise<SnippetTaskView>
  rerun(id: string, signal?: AbortSignal): Promise<SubmittedTask>
  /** Ends with the task; resumes after a lost connection. */
  events(id: string, signal?: AbortSignal): AsyncGenerator<TaskEvent, void>
  artifact(id: string, path: string, signal?: AbortSignal): Promise<Uint8Array>
  languages(signal?: AbortSignal): Promise<readonly LanguageView[]>
}

export class SnippetsError extends Error {
  override readonly name = 'SnippetsError'
  /** From the table of codes; 0 when what answered was not the API. */
  readonly code: number
  readonly status: number
  /** Seconds after which asking again makes sense. */
  readonly retryAfter: number | undefined

  constructor(message: string, { code, status, retryAfter }: Pick<SnippetsError, 'code' | 'status' | 'retryAfter'>) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfter = retryAfter
  }
}

interface Envelope {
  readonly code?: number
  readonly message?: string
  readonly detail?: string
  readonly retryAfter?: number
  readonly data?: unknown
}

const TASKS = '/api/v1/tasks'
/** As long as a server keeps an answer back. */
const LONG = 'wait=60s'

export function snippetsClient({ url, token, clock }: SnippetsClientOptions): SnippetsClient {
  const send = (path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> }) =>
    fetch(new URL(path, url), {
      redirect: 'error',
      ...init,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    })
  const ask = async <T>(method: string, path: string, { body, signal }: Asking = {}): Promise<T> => {
    const response = await send(path, {
      method,
      ...(signal && { signal }),
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return (await dataIn(response)) as T
  }
  const of = (id: string, rest = ''): string => `${TASKS}/${encodeURIComponent(id)}${rest}`
  const wait = async (id: string, signal?: AbortSignal): Promise<SnippetTaskView> => {
    for (;;) {
      const task = await ask<SnippetTaskView>('GET', of(id, `?${LONG}`), withSignal(signal))
      if (isOver({ state: task.status })) return task
    }
  }
  return {
    submit: (body, signal) => ask('POST', TASKS, { body, ...withSignal(signal) }),
    async run(body, signal) {
      const task = await ask<SnippetTaskView>('POST', `${TASKS}?${LONG}`, { body, ...withSignal(signal) })
      return isOver({ state: task.status }) ? task : await wait(task.taskId, signal)
    },
    get: (id, signal) => ask('GET', of(id), withSignal(signal)),
    wait,
    list: (query = {}, signal) => ask('GET', `${TASKS}?${queryOf(query)}`, withSignal(signal)),
    cancel: (id, signal) => ask('POST', of(id, '/cancel'), withSignal(signal)),
    rerun: (id, signal) => ask('POST', of(id, '/rerun'), withSignal(signal)),
    events: (id, signal) =>
      followed((headers) => send(of(id, '/events'), { headers, ...(signal && { signal }) }), clock),
    async artifact(id, path, signal) {
      const name = path.split('/').map(encodeURIComponent).join('/')
      const response = await send(of(id, `/artifacts/${name}`), signal ? { signal } : {})
      if (!response.ok) await dataIn(response)
      return new Uint8Array(await response.arrayBuffer())
    },
    languages: async (signal) =>
      (await ask<{ languages: readonly LanguageView[] }>('GET', '/api/v1/languages', withSignal(signal))).languages,
  }
}

interface Asking {
  readonly body?: unknown
  readonly signal?: AbortSignal
}

const withSignal = (signal: AbortSignal | undefined): Asking => (signal === undefined ? {} : { signal })

function queryOf({ status, language, metadata, limit, cursor }: SnippetListQuery): string {
  const query = new URLSearchParams()
  if (status !== undefined) query.set('status', status.join(','))
  if (language !== undefined) query.set('language', language)
  for (const [key, value] of Object.entries(metadata ?? {})) query.set(`metadata.${key}`, value)
  if (limit !== undefined) query.set('limit', String(limit))
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.toString()
}

async function dataIn(response: Response): Promise<unknown> {
  const { status } = response
  const envelope = (await response.json().catch(() => ({}))) as Envelope
  if (response.ok && envelope.code === 0) return envelope.data
  const { code = 0, message, detail, retryAfter } = envelope
  throw new SnippetsError(detail ?? message ?? `the server answered ${status}`, { code, status, retryAfter })
}

const FIRST_PAUSE_MS = 200
const MOST_TRIES = 8

/** A stream that breaks off is opened again; after some failures in a row it is given up. */
async function* followed(
  open: (headers: Record<string, string>) => Promise<Response>,
  clock: Clock,
): AsyncGenerator<TaskEvent, void> {
  let lastId: string | undefined
  for (let failures = 0; ; failures++) {
    try {
      const response = await open(lastId === undefined ? {} : { 'last-event-id': lastId })
      if (!response.ok || response.body === null) return void (await dataIn(response))
      for await (const { id, event, data } of serverEvents(response.body)) {
        failures = 0
        lastId = id ?? lastId
        yield taskEvent(event, data)
        if (event === 'end') return
      }
    } catch (error) {
      if (!(error instanceof TypeError) || failures >= MOST_TRIES) throw error // the error that fetch throws when no server answers
    }
    if (failures >= MOST_TRIES) throw new Error('the stream of events broke off too often')
    await new Promise<void>((resolve) => clock.after(FIRST_PAUSE_MS * 2 ** failures, resolve))
  }
}

function taskEvent(event: string, data: string): TaskEvent {
  const body: unknown = JSON.parse(data)
  if (event === 'output') return { event, output: body as OutputFileView }
  return { event: event === 'end' ? 'end' : 'state', task: body as SnippetTaskView }
}
