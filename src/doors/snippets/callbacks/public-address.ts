import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/**
 * Addresses that the world outside has no business with, and that a stranger's callback must therefore never reach: this
 * machine, its neighbours, the services that clouds keep at link-local ones (RFC 6890 and its updates).
 */
const NOT_PUBLIC: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
/** What of IPv6 is given out to the world; in it there are ways into IPv4 and pieces for other uses. */
const PUBLIC6: readonly [string, number] = ['2000::', 3]
const NOT_PUBLIC6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const notPublic = new BlockList()
for (const [net, prefix] of NOT_PUBLIC) notPublic.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of NOT_PUBLIC6) notPublic.addSubnet(net, prefix, 'ipv6')
const public6 = new BlockList()
public6.addSubnet(...PUBLIC6, 'ipv6')

/** Of an address as numbers; a name is none. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4')
  return isIPv6(address) && public6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

/** What is wrong with a URL that someone wants called; undefined when nothing is, as far as can be seen without asking anyone. */
export function callbackProblem(text: string, mayBePrivate: boolean): string | undefined {
  if (text.length > 2000) return 'it is longer than 2000 characters'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return 'it is not a URL'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it must begin with https:// or http://'
  if (url.username !== '' || url.password !== '') return 'it must not carry a name or a password'
  if (mayBePrivate) return undefined
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isPublicAddress(host)) return `${host} is not a public address`
  if (host === 'localhost' || host.endsWith('.localhost')) return 'it leads to this machine'
  return undefined
}

/** Without the brackets that IPv6 addresses stand in, and without a dot that changes nothing. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
