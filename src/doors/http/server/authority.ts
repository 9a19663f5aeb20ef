import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The `host[:port]` of a Host header or of a URL. */
export interface Authority {
  /** Lower case; an IPv6 address stands without its brackets. */
  readonly name: string
  readonly port: number | undefined
}

const FORM = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i

/** Strict on purpose: user info, zones, lists and escapes are how a foreign name is made to look like ours. */
export function parseAuthority(text: string): Authority | undefined {
  const parts = FORM.exec(text)
  if (parts === null) return undefined
  const [, ipv6, name, digits] = parts
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && port > 65535) return undefined
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined
  return { name: (ipv6 ?? name ?? '').toLowerCase(), port }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whole addresses only: `127.1` and `localhost.` reach this machine as well, but no browser needs to say so. */
export function isLoopback(name: string): boolean {
  if (name === 'localhost') return true
  if (isIPv4(name)) return loopback.check(name, 'ipv4')
  return isIPv6(name) && loopback.check(name, 'ipv6')
}

/** Reads a configured host, which may be a bare IPv6 address; throws on anything that could never match. */
export function configuredAuthority(text: string): Authority {
  const authority = parseAuthority(isIPv6(text) ? `[${text}]` : text)
  if (authority === undefined) throw new Error(`http.allowed_hosts: "${text}" is not a host name with an optional port`)
  return authority
}
