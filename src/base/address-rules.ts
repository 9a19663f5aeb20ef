import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/**
 * Network addresses that tasks and callbacks may connect to: public addresses, none of this machine's own, and the
 * addresses that the operator lists.
 */
export interface AddressRules {
  /** `host` is the name that was resolved to the address, where there was one. */
  mayReach(address: string, host?: string): boolean
}

export interface AddressRuleOptions {
  /** The operator's list: addresses, ranges such as `10.1.0.0/16`, and host names. */
  readonly reach: readonly string[]
  /** The addresses of this machine. Asked each time: they change while it runs. */
  readonly own: () => readonly string[]
}

export interface AddressRange {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** The special-purpose addresses of IPv4 (RFC 6890 and its updates), multicast, and addresses that are reserved. */
export const SPECIAL_RANGES: readonly AddressRange[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
].map((text) => rangeOf(text) as AddressRange)

/** IPv6 is public within 2000::/3 only; these parts of it lead into IPv4 or are set aside. */
const PUBLIC6 = rangeOf('2000::/3') as AddressRange
const SPECIAL6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((text) => rangeOf(text) as AddressRange)

const special = blockListOf([...SPECIAL_RANGES, ...SPECIAL6])
const public6 = blockListOf([PUBLIC6])

/** False for a name, and for IPv4 addresses that are written as IPv6. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  return isIPv6(address) && public6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

export function addressRules({ reach, own }: AddressRuleOptions): AddressRules {
  const names = new Set(reach.filter((text) => rangeOf(text) === undefined).map((name) => name.toLowerCase()))
  const ranges = reachRanges(reach)
  const single = blockListOf(ranges.filter(isSingle))
  const wide = blockListOf(ranges.filter((range) => !isSingle(range)))
  return {
    mayReach(address, host) {
      const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
      if (isIP(address) === 0) return false
      if ((host !== undefined && names.has(host.toLowerCase())) || single.check(address, family)) return true
      // A range that the operator lists does not open this machine itself: only its very address does.
      if (own().includes(address)) return false
      return wide.check(address, family) || isPublicAddress(address)
    },
  }
}

/** Every address may be reached. */
export const anyAddress: AddressRules = { mayReach: (address) => isIP(address) !== 0 }

/** The addresses and ranges among what the operator lists; the names are left out. */
export const reachRanges = (reach: readonly string[]): readonly AddressRange[] =>
  reach.map(rangeOf).filter((range) => range !== undefined)

/** The names of hosts among what the operator lists. */
export const reachNames = (reach: readonly string[]): readonly string[] =>
  reach.filter((text) => rangeOf(text) === undefined)

const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/i

/** Why a text cannot be listed; undefined when it can. */
export function reachProblem(text: string): string | undefined {
  if (rangeOf(text) !== undefined) return undefined
  const isName = NAME.test(text) && /[a-z_-]/i.test(text)
  return isName
    ? undefined
    : `${JSON.stringify(text)} is neither an address, nor a range such as 10.1.0.0/16, nor a host name`
}

const isSingle = ({ prefix, family }: AddressRange): boolean => prefix === (family === 'ipv4' ? 32 : 128)

function rangeOf(text: string): AddressRange | undefined {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return undefined
  const most = version === 4 ? 32 : 128
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (!(prefix <= most)) return undefined
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}

function blockListOf(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList()
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family)
  return list
}
