import { lookup } from 'node:dns'
import { type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { callbackProblem, hostOf, isPublicAddress } from '../snippets/callbacks/public-address.ts'

export interface PutOptions {
  readonly clock: Clock
  /** Callbacks may go to this machine and its neighbours. */
  readonly mayBePrivate: boolean
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5000

/**
 * One try; whether it was taken. As with our own callbacks, only what was looked up and found public is connected to, and
 * no redirect is followed. Never rejects.
 */
export function putCallback(url: string, body: string, options: PutOptions): Promise<boolean> {
  if (callbackProblem(url, options.mayBePrivate) !== undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const address = new URL(url)
    const send = address.protocol === 'https:' ? requestHttps : requestHttp
    const settings: RequestOptions = {
      method: 'PUT',
      agent: false, // a connection kept open would outlive what was found out about its address
      lookup: checkedLookup(options.mayBePrivate),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'windlass',
      },
      ...(isIP(hostOf(address)) !== 0 && { host: hostOf(address) }),
    }
    const request = send(address, settings, (response) => {
      const status = response.statusCode ?? 0
      response.destroy()
      done(status >= 200 && status < 300)
    })
    const takeBack = options.clock.after(options.timeoutMs ?? TIMEOUT_MS, () => {
      request.destroy()
      done(false)
    })
    const done = (isTaken: boolean): void => {
      takeBack()
      resolve(isTaken)
    }
    request.on('error', () => done(false))
    request.end(body)
  })
}

/** All addresses of a name must be public: one that is not is a trap, whichever of them would be tried first. */
const checkedLookup =
  (mayBePrivate: boolean): LookupFunction =>
  (host, settings, callback) => {
    lookup(host, { ...settings, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return callback(error ?? new Error('the name has no address'), '', 0)
      const isOpen = mayBePrivate || addresses.every(({ address }) => isPublicAddress(address))
      if (!isOpen) return callback(new Error('the name has an address that is not public'), '', 0)
      return settings.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
