import { BlockList, isIP, isIPv6 } from 'node:net'
import { BY_SOCKET_FILE, plainAddress } from './callers.ts'

export type IsProxy = (address: string) => boolean

/** Reads configured proxies: addresses, subnets such as `10.0.0.0/8`, or `unix`. Throws on any other text. */
export function proxyList(texts: readonly string[]): IsProxy {
  const list = new BlockList()
  for (const text of texts) if (text !== BY_SOCKET_FILE) add(list, text)
  const hasUnix = texts.includes(BY_SOCKET_FILE)
  return (address) => (address === BY_SOCKET_FILE ? hasUnix : list.check(address, familyOf(address)))
}

function add(list: BlockList, text: string): void {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const most = isIPv6(address) ? 128 : 32
  if (isIP(address) === 0 || Number(bits ?? most) > most)
    throw new Error(`limits.trusted_proxies: "${text}" is not an address, a subnet such as 10.0.0.0/8, or unix`)
  list.addSubnet(address, Number(bits ?? most), familyOf(address))
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * The caller of a request that came through proxies. Each proxy appends the address that called it, and the caller may
 * have written any text before: so the header is read from its end, while the address that wrote an entry is trusted.
 */
export function callerBehindProxies(header: string, peer: string, isProxy: IsProxy): string {
  let caller = peer
  for (const text of header.split(',').reverse()) {
    const address = plainAddress(text.trim())
    if (isIP(address) === 0) return caller
    caller = address
    if (!isProxy(address)) return caller
  }
  return caller
}
