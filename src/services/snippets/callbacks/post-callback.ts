import { createHmac } from 'node:crypto'
import { lookup } from 'node:dns'
import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { AddressRules } from '../../../base/address-rules.ts'
import type { Clock } from '../../../base/clock.ts'
import { callbackProblem, hostOf, notReached } from './callback-url.ts'

export interface CallbackRequest {
  readonly url: string
  readonly secret: string | undefined
  /** The same for every try, so that a receiver can detect duplicates. */
  readonly delivery: string
  /** The number of the try, from 1. */
  readonly attempt: number
  readonly body: string
  /** POST by default; some APIs use PUT. */
  readonly method?: 'PUT'
}

export interface PostOptions {
  readonly clock: Clock
  /** The addresses that callbacks may be sent to. */
  readonly addresses: AddressRules
  readonly timeoutMs?: number
  readonly agentName?: string
}

export interface Posted {
  readonly status: number | undefined
  /** Undefined when the receiver accepted it. */
  readonly problem: string | undefined
}

const TIMEOUT_MS = 10_000

/**
 * Sends one request. It connects only to an address that was resolved and checked: a name that resolves to another
 * address later changes nothing. Redirects are not followed. Never rejects.
 */
export function postCallback(order: CallbackRequest, options: PostOptions): Promise<Posted> {
  const problem = callbackProblem(order.url, options.addresses)
  if (problem !== undefined) return Promise.resolve({ status: undefined, problem: `not called: ${problem}` })
  return new Promise((resolve) => {
    let request: ClientRequest | undefined
    const takeBack = options.clock.after(options.timeoutMs ?? TIMEOUT_MS, () => {
      request?.destroy()
      done({ status: undefined, problem: 'no answer in time' })
    })
    const done = (posted: Posted): void => {
      takeBack()
      resolve(posted)
    }
    try {
      request = send(order, options, done)
    } catch (error) {
      done({ status: undefined, problem: wordsOf(error) })
    }
  })
}

function send(order: CallbackRequest, options: PostOptions, done: (posted: Posted) => void): ClientRequest {
  const url = new URL(order.url)
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const settings: RequestOptions = {
    method: order.method ?? 'POST',
    agent: false, // a kept connection would outlive the check of its address
    lookup: checkedLookup(options.addresses),
    headers: headersFor(order, options),
    ...(isIP(hostOf(url)) !== 0 && { host: hostOf(url) }),
  }
  const request = send(url, settings, (response) => {
    const status = response.statusCode ?? 0
    response.destroy() // the body of the response is not read
    done({ status, problem: status >= 200 && status < 300 ? undefined : `answered ${status}` })
  })
  request.on('error', (error) => done({ status: undefined, problem: wordsOf(error) }))
  request.end(order.body)
  return request
}

function headersFor(
  { secret, delivery, attempt, body }: CallbackRequest,
  { clock, agentName = 'windlass' }: PostOptions,
): Record<string, string | number> {
  const seconds = Math.floor(clock.now() / 1000)
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': agentName,
    'windlass-delivery': delivery,
    'windlass-attempt': attempt,
    'windlass-timestamp': seconds,
    ...(secret !== undefined && { 'windlass-signature': `v1=${signatureOf(secret, seconds, body)}` }),
  }
}

/** Contains the time, so that a recorded delivery cannot be replayed later. */
export const signatureOf = (secret: string, seconds: number, body: string): string =>
  createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')

/** All addresses of a name must be allowed. If one is not, the name may be an attack, so the lookup fails. */
const checkedLookup =
  (rules: AddressRules): LookupFunction =>
  (host, settings, callback) => {
    lookup(host, { ...settings, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      const bad = addresses.find(({ address }) => !rules.mayReach(address, host))
      const [first] = addresses
      if (bad !== undefined) return callback(new Error(`not called: ${notReached(bad.address)}`), '', 0)
      if (first === undefined) return callback(new Error('the name has no address'), '', 0)
      return settings.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200)
