import { isIP, isIPv4 } from 'node:net'

/** An address to listen on: a host and port, or a socket file. */
export type BindAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** Parses `host:port`, `[ipv6]:port` or `unix:/path`; returns undefined for anything else. */
export function parseAddress(text: string): BindAddress | undefined {
  if (text.startsWith('unix:')) return text.length > 5 ? { path: text.slice(5) } : undefined
  const parts = /^(?:\[([^\]]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text)
  if (parts === null) return undefined
  const [, ipv6, name, digits] = parts
  const port = Number(digits)
  if (port > 65535 || (ipv6 !== undefined && isIP(ipv6) !== 6)) return undefined
  return { host: ipv6 ?? name ?? '', port }
}

export function formatAddress(address: BindAddress): string {
  if ('path' in address) return `unix:${address.path}`
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}

/**
 * Whether only this machine can reach the address. Names other than localhost count as public, because they may resolve
 * to any address.
 */
export function isLocal(address: BindAddress): boolean {
  if ('path' in address) return true
  const { host } = address
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
