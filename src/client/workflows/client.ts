import { FaultError, invalid } from '../../base/fault.ts'
import { type ApiCaller, type ApiResponse, wholeText } from './http.ts'

/** Plain JSON, as it goes over the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export interface JsonRecord {
  readonly [name: string]: Json
}

export interface NewSubmission {
  readonly workflow: JsonRecord
  readonly inputs: JsonRecord
  readonly schemas: Readonly<Record<string, string>>
  readonly name: string
  readonly instance: string
  readonly labels: Readonly<Record<string, string>>
}

export interface RemoteSubmission {
  readonly id: string
  readonly state: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly outputs: JsonRecord | null
  readonly error: { readonly step: string; readonly message: string; readonly unsupported: boolean } | null
}

export interface RemoteStep {
  readonly path: string
  readonly state: 'QUEUED' | 'RUNNING' | 'RETRYING' | 'SUCCESS' | 'FAILED' | 'CANCELLED'
  readonly cached: boolean
  readonly task: string | null
}

export type RemoteEvent =
  | { readonly kind: 'status'; readonly submission: RemoteSubmission }
  | { readonly kind: 'step'; readonly step: RemoteStep }

export interface EventListening {
  /** Where an earlier listening left off. */
  last: string | undefined
  /** Which are of interest. */
  readonly steps: 'all' | 'failed'
}

/** Workflows on a server, over its HTTP interface. */
export interface SubmissionsClient {
  create(submission: NewSubmission): Promise<RemoteSubmission>
  find(id: string): Promise<RemoteSubmission>
  cancel(id: string): Promise<void>
  /** Ends when the server does, or the submission. */
  events(id: string, listening: EventListening): AsyncIterable<RemoteEvent>
  logs(id: string, step: string): Promise<{ readonly stdout: string; readonly stderr: string }>
}

const BASE = '/api/v1/submissions'

export function submissionsClient(caller: ApiCaller, signal: AbortSignal): SubmissionsClient {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
    // The cancellation must reach the server although the caller no longer waits.
    const heeded = path.endsWith('/cancel') ? new AbortController().signal : signal
    return dataIn(await caller.call({ method, path: BASE + path, headers, ...sent }, heeded))
  }
  const named = (id: string): string => `/${encodeURIComponent(id)}`
  return {
    create: async (submission) => (await ask('POST', '', submission)) as RemoteSubmission,
    find: async (id) => (await ask('GET', named(id))) as RemoteSubmission,
    async cancel(id) {
      await ask('POST', `${named(id)}/cancel`)
    },
    logs: async (id, step) =>
      (await ask('GET', `${named(id)}/logs?step=${encodeURIComponent(step)}`)) as { stdout: string; stderr: string },
    async *events(id, listening) {
      const headers = {
        accept: 'text/event-stream',
        ...(listening.last !== undefined && { 'last-event-id': listening.last }),
      }
      const path = `${BASE}${named(id)}/events?steps=${listening.steps}`
      const answer = await caller.call({ method: 'GET', path, headers }, signal)
      if (answer.status !== 200) await dataIn(answer)
      for await (const { name, data, id: number } of eventsIn(answer.body)) {
        listening.last = number ?? listening.last
        if (name === 'status') yield { kind: 'status', submission: JSON.parse(data) as RemoteSubmission }
        if (name === 'step') yield { kind: 'step', step: JSON.parse(data) as RemoteStep }
      }
    },
  }
}

async function dataIn(answer: ApiResponse): Promise<unknown> {
  const text = await wholeText(answer)
  let envelope: { data?: unknown; error?: { code?: string; kind?: string; message?: string } }
  try {
    envelope = JSON.parse(text)
  } catch {
    throw strange(answer)
  }
  if (answer.status < 300 && envelope.data !== undefined) return envelope.data
  const what = envelope.error?.message ?? `the server says ${answer.status}`
  if (answer.status === 404 && envelope.error?.code === undefined) throw strange(answer)
  throw answer.status === 400 ? invalid(what) : new FaultError({ kind: 'unavailable', what })
}

const strange = ({ status }: ApiResponse): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the server does not run workflows: it returned status ${status}` })

interface ServerEvent {
  readonly name: string
  readonly data: string
  readonly id: string | undefined
}

/** Server-sent events, as far as our own server uses them. */
async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(text.slice(0, end).split('\n').map(fieldIn))
      text = text.slice(end + 2)
      const data = fields.get('data')
      if (data !== undefined) yield { name: fields.get('event') ?? 'message', data, id: fields.get('id') }
    }
  }
}

const fieldIn = (line: string): [string, string] => {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
