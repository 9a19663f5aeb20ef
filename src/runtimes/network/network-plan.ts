import { isIPv4 } from 'node:net'
import { type AddressRange, reachRanges, SPECIAL_RANGES } from '../../base/address-rules.ts'

/**
 * The routes of a room's network. The translator (slirp4netns or pasta) runs outside and connects to whatever address
 * it is sent, so the room's own routing table has to keep packets from addresses that are not public.
 *
 * Routes alone are not enough: a program may bind a socket to the interface, and the kernel then takes a destination
 * without a route to be a neighbour (net/ipv4/route.c, ip_route_output_key_hash_rcu: "Apparently, routing tables are
 * wrong"). So no neighbour but the gateway can be resolved: its entry is permanent, and the interface sends no ARP
 * request.
 */
export const INTERFACE = 'tap0'
/** From the benchmark range (RFC 2544), which no private network uses. */
export const ROOM_NET = {
  range: '198.18.255.0/24',
  prefix: 24,
  address: '198.18.255.100',
  gateway: '198.18.255.2',
  /** libslirp derives it from the gateway's address; pasta accepts frames for any. */
  gatewayMac: '52:55:c6:12:ff:02',
} as const

/** Routing table numbers that are not in common use. */
const NAME_TABLE = 5353

export interface NetworkPlan {
  readonly reach: readonly string[]
  /** Addresses that the names in `reach` resolve to. */
  readonly resolved: readonly string[]
  /** Addresses of this machine. */
  readonly own: readonly string[]
  readonly nameServers: readonly string[]
  /** Whether the translator forwards multicast to the host's network. */
  readonly forwardsMulticast: boolean
}

/**
 * For multicast from a socket with a source address or an interface, the kernel looks up neither a route nor a
 * neighbour (net/ipv4/route.c, net/ipv4/arp.c: arp_constructor). It does apply the IPsec policies of the namespace.
 */
const NO_MULTICAST = ['224.0.0.0/4', '240.0.0.0/4'].map((range) => `xfrm policy add dst ${range} dir out action block`)

/** Lines for `ip -batch`. */
export function networkBatch({ reach, resolved, own, nameServers, forwardsMulticast }: NetworkPlan): string {
  const listed = [...reachRanges(reach), ...resolved.map(single)].filter(({ family }) => family === 'ipv4')
  const open = (range: AddressRange): boolean => listed.some((each) => covers(each, range))
  const exact = new Set(listed.filter(({ prefix }) => prefix === 32).map(({ address }) => address))
  const closed = [
    ...SPECIAL_RANGES.filter((range) => !open(range)),
    // A listed range does not include this machine's own addresses: each must be listed itself.
    ...own.filter((address) => isIPv4(address) && !exact.has(address)).map(single),
  ]
  const through = `via ${ROOM_NET.gateway} dev ${INTERFACE} onlink`
  const lines = [
    'link set dev lo up',
    `neigh replace ${ROOM_NET.gateway} lladdr ${ROOM_NET.gatewayMac} dev ${INTERFACE} nud permanent`,
    `ntable change name arp_cache dev ${INTERFACE} mcast_probes 0 ucast_probes 0 app_probes 0`,
    `route replace default ${through}`,
    ...listed.map((range) => `route replace ${textOf(range)} ${through}`),
    ...closed.map((range) => `route replace unreachable ${textOf(range)}`),
    // Otherwise the room could reach the gateway and services that a translator offers there.
    `route del ${ROOM_NET.range} dev ${INTERFACE}`,
    // Name servers often have private addresses: a room may reach them on the DNS port only.
    ...nameServers.flatMap((address) => [
      `route replace ${address}/32 ${through} table ${NAME_TABLE}`,
      ...['udp', 'tcp'].map(
        (protocol) => `rule add to ${address}/32 ipproto ${protocol} dport 53 lookup ${NAME_TABLE}`,
      ),
    ]),
    ...(forwardsMulticast ? NO_MULTICAST : []),
  ]
  return `${lines.join('\n')}\n`
}

const single = (address: string): AddressRange => ({ address, prefix: 32, family: isIPv4(address) ? 'ipv4' : 'ipv6' })

/** The kernel requires that no bits are set after the prefix. */
function textOf({ address, prefix }: AddressRange): string {
  const bits = masked(address, prefix)
  return `${[24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')}/${prefix}`
}

const covers = (outer: AddressRange, inner: AddressRange): boolean =>
  outer.prefix <= inner.prefix && masked(inner.address, outer.prefix) === masked(outer.address, outer.prefix)

function masked(address: string, prefix: number): number {
  const bits = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  return prefix === 0 ? 0 : (bits & (0xffff_ffff << (32 - prefix))) >>> 0
}
