import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Context, MiddlewareHandler } from 'hono'

declare module 'hono' {
  interface ContextVariableMap {
    callerAddress: string
  }
}

/** The address of callers over a socket file: they are on this machine, and have no address. */
export const BY_SOCKET_FILE = 'unix'

/** Reads configured proxies: addresses, subnets such as `10.0.0.0/8`, or `unix`. Throws on what is none of these. */
export function proxyList(texts: readonly string[]): (address: string) => boolean {
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

/** Puts the caller's address where `addressOf` finds it. */
export function knowingCallers(trustedProxies: readonly string[]): MiddlewareHandler {
  const isProxy = proxyList(trustedProxies)
  return (c, next) => {
    const peer = peerOf(c)
    const said = c.req.header('x-forwarded-for')
    c.set('callerAddress', said !== undefined && isProxy(peer) ? behindProxies(said, { peer, isProxy }) : peer)
    return next()
  }
}

/** Whose request it is, as far as the network and the proxies that are trusted can tell. */
export const callerAddressOf = (c: Context): string => c.get('callerAddress') ?? peerOf(c)

function peerOf(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  const address = incoming?.socket.remoteAddress
  return address === undefined ? BY_SOCKET_FILE : plainAddress(address)
}

/** The same caller must not be two, by way of an IPv4 and an IPv6 socket. */
export const plainAddress = (address: string): string =>
  /^::ffff:[0-9.]+$/i.test(address) ? address.slice(7) : address

/**
 * Every proxy adds the address it was called from at the end, and the caller can have written anything before: so it is
 * read from the end, for as long as those who wrote it are trusted.
 */
function behindProxies(
  header: string,
  { peer, isProxy }: { readonly peer: string; readonly isProxy: (address: string) => boolean },
): string {
  let caller = peer
  for (const text of header.split(',').reverse()) {
    const address = plainAddress(text.trim())
    if (isIP(address) === 0) return caller
    caller = address
    if (!isProxy(address)) return caller
  }
  return caller
}

/** The network that a limit per address applies to. With IPv6 a household has 2^64 addresses: the first half counts. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('::')
  const [front, back] = [groupsOf(before), groupsOf(after ?? '')]
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0')
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`
}

const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16).toString(16))
