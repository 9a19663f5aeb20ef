import { firstRunnable } from '../run/first-runnable.ts'
import { INTERFACE, ROOM_NET } from './network-plan.ts'
import type { NetworkUser } from './room-networks.ts'
import type { SideProcessSpec } from './side-process.ts'

/**
 * A program that forwards packets between a room's network and sockets of this machine: network address translation in
 * user space.
 */
export interface Translator {
  readonly name: string
  /** How to start it for the network namespace of a process. */
  start(pid: number, user: NetworkUser): SideProcessSpec
  /** Whether it reports on a descriptor that the interface is configured; otherwise the interface is polled. */
  readonly tellsReady: boolean
  /** Whether it sends datagrams for a multicast group on to the host's network. */
  readonly forwardsMulticast: boolean
}

const MTU = '65520'

/**
 * slirp4netns needs root to open /dev/net/tun where only root may. It then drops its rights: `--enable-sandbox` drops
 * all relevant capabilities and changes the root directory.
 */
const slirp4netns = (path: string): Translator => ({
  name: 'slirp4netns',
  tellsReady: true,
  forwardsMulticast: false,
  start: (pid) => ({
    argv: [
      ...[path, '--configure', `--mtu=${MTU}`, `--cidr=${ROOM_NET.range}`, '--disable-host-loopback', '--disable-dns'],
      ...['--enable-sandbox', '--enable-seccomp', '--exit-fd=3', '--ready-fd=4', `${pid}`, INTERFACE],
    ],
    user: undefined,
    extra: 'life and ready',
  }),
})

/** Ends pasta when the input ends: pasta itself does not read it. */
const GUARD = '"$@" & child=$!; echo started; cat > /dev/null; kill -9 $child'

/**
 * When started as root, pasta switches to the user `nobody`, which may not enter the room's namespaces. So it is
 * started as the owner of those namespaces.
 */
const pasta = (path: string, shell: string): Translator => ({
  name: 'pasta',
  tellsReady: false,
  forwardsMulticast: true,
  start: (pid, user) => ({
    argv: [
      ...[shell, '-c', GUARD, 'sh', path, '--foreground', '--config-net', '--no-map-gw', '--ipv4-only'],
      ...['-t', 'none', '-u', 'none', '-T', 'none', '-U', 'none', '-I', INTERFACE, '-m', MTU],
      ...['-a', ROOM_NET.address, '-n', `${ROOM_NET.prefix}`, '-g', ROOM_NET.gateway, `${pid}`],
    ],
    user,
    isGuard: true,
  }),
})

/** The installed translators, in order of preference. */
export async function installedTranslators(): Promise<readonly Translator[]> {
  const [slirp, passt, shell] = await Promise.all(['slirp4netns', 'pasta', 'sh'].map(firstRunnable))
  return [
    ...(slirp === undefined ? [] : [slirp4netns(slirp)]),
    ...(passt === undefined || shell === undefined ? [] : [pasta(passt, shell)]),
  ]
}
