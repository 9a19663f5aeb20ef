import { isIP } from 'node:net'
import type { AddressRules } from '../../../base/address-rules.ts'

/** Returns why a URL must not be called, without resolving its name; undefined when it may. */
export function callbackProblem(text: string, addresses: AddressRules): string | undefined {
  if (text.length > 2000) return 'it is longer than 2000 characters'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return 'it is not a URL'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it must begin with https:// or http://'
  if (url.username !== '' || url.password !== '') return 'it must not contain a user name or a password'
  const host = hostOf(url)
  if (isIP(host) !== 0 && !addresses.mayReach(host)) return notReached(host)
  const isHere = host === 'localhost' || host.endsWith('.localhost')
  if (isHere && !addresses.mayReach('127.0.0.1', host)) return 'it leads to this machine'
  return undefined
}

export const notReached = (address: string): string =>
  `${address} is not a public address, or is one of this server; the operator can list it in reach under [execution.network]`

/** Removes the brackets of an IPv6 address and a trailing dot. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
