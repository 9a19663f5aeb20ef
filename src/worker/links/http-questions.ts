import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { registrationToJson, SESSION_HEADER, sessionFromJson } from '../../wire/workers/json/registration.ts'
import type { HttpCaller } from './http-caller.ts'
import type { LinkListener } from './worker-link.ts'

export interface HttpLinkOptions {
  readonly caller: HttpCaller
  readonly clock: Clock
  readonly worker: string
  readonly hostname: string
  /** From 0 up to 1. */
  readonly random: () => number
}

export const WAIT_SECONDS = 30
const REGISTER_MS = 20_000
/** The time after the end of a long poll until a silent server counts as lost. */
const LATE_MS = 10_000

/** An accepted registration. */
export interface Registered {
  readonly slots: number
  readonly headers: Readonly<Record<string, string>>
}

/** Throws `unavailable` for temporary errors and `denied` for permanent ones. */
export async function registerByHttp(
  options: HttpLinkOptions & { readonly signal: AbortSignal },
  listener: LinkListener,
): Promise<Registered> {
  const { caller, worker, hostname, signal } = options
  const registration = { ...listener.registration(), prefetch: 0 } // HTTP has no message that starts a prefetched attempt
  const said = { name: worker, hostname, runtime: 'none' as const, registration }
  const { status, body } = await caller.call({
    method: 'POST',
    path: '/api/v1/workers',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(registrationToJson(said))),
    timeoutMs: REGISTER_MS,
    signal,
  })
  const words = FINAL[status]
  if (words !== undefined) throw refusal(`${words} (${wordsIn(body)})`)
  if (status !== 201) throw unavailable(`the server answered ${status}: ${wordsIn(body)}`)
  return { slots: registration.slots, headers: { [SESSION_HEADER]: sessionFromJson(JSON.parse(body.toString())) } }
}

interface AskingParts {
  readonly headers: Readonly<Record<string, string>>
  readonly unknown: () => void
  readonly displaced: (what: string) => void
}

/** Sends a long poll. Returns undefined for an empty answer, and throws a fault for an error. */
export function asking({ caller, worker }: HttpLinkOptions, { headers, unknown, displaced }: AskingParts) {
  const own = `/api/v1/workers/${encodeURIComponent(worker)}`
  return async (what: string, within: AbortSignal): Promise<unknown> => {
    const timeoutMs = WAIT_SECONDS * 1000 + LATE_MS
    const request = { method: 'GET', path: `${own}/${what}`, headers, timeoutMs, signal: within } as const
    const { status, body } = await caller.call(request)
    if (status === 204) return undefined
    if (status === 200) return JSON.parse(body.toString())
    if (status === 404) unknown()
    if (status === 409) displaced(wordsIn(body))
    throw unavailable(`the server answered ${status}: ${wordsIn(body)}`)
  }
}

/** Errors that no retry can fix, explained for the operator of the worker. */
const FINAL: Readonly<Record<number, string>> = {
  400: 'the server does not take our registration',
  401: 'the server does not know who we are',
  403: 'the server does not let us work for it',
  404: 'the server offers no work over HTTP: it is another program, or an older one',
  405: 'the server offers no work over HTTP: it is another program, or an older one',
  415: 'the server does not take our registration',
}

const MOST_WORDS = 500

/** Windlass servers state the reason in JSON, proxies in any format. */
function wordsIn(body: Buffer): string {
  const text = body.toString().slice(0, 10_000)
  try {
    const { error } = JSON.parse(text)
    if (typeof error?.message === 'string') return error.message.slice(0, MOST_WORDS)
  } catch {
    // not JSON
  }
  return text.slice(0, MOST_WORDS)
}

const unavailable = (what: string): FaultError => new FaultError({ kind: 'unavailable', what })
export const refusal = (what: string): FaultError => new FaultError({ kind: 'denied', what })
