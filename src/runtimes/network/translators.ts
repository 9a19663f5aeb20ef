import { firstRunnable } from '../run/first-runnable.ts'
import { INTERFACE, ROOM_NET } from './network-plan.ts'
import type { NetworkUser } from './room-networks.ts'
import type { SideProcessSpec } from './side-process.ts'

/** A program that carries packets between a room's network and sockets of this machine: network address translation in user space. */
export interface Translator {
  readonly name: string
  /** How to start it for the network of a process. */
  start(pid: number, user: NetworkUser): SideProcessSpec
  /** Says by a descriptor that the interface is configured; else somebody has to look. */
  readonly tellsReady: boolean
}

const MTU = '65520'

/**
 * As root it needs the rights of root to open /dev/net/tun where that is closed to others, and gives them up: `--enable-sandbox` drops every
 * capability that matters, and the file system.
 */
const slirp4netns = (path: string): Translator => ({
  name: 'slirp4netns',
  tellsReady: true,
  start: (pid) => ({
    argv: [
      ...[path, '--configure', `--mtu=${MTU}`, `--cidr=${ROOM_NET.range}`, '--disable-host-loopback', '--disable-dns'],
      ...['--enable-sandbox', '--enable-seccomp', '--exit-fd=3', '--ready-fd=4', `${pid}`, INTERFACE],
    ],
    user: undefined,
    extra: 'life and ready',
  }),
})

/** Ends pasta when the input ends: pasta itself does not look. */
const GUARD = '"$@" & child=$!; echo started; cat > /dev/null; kill -9 $child'

/** Started as root it would become nobody, who may not enter the room's namespaces; so it is started as their owner. */
const pasta = (path: string, shell: string): Translator => ({
  name: 'pasta',
  tellsReady: false,
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

/** Those that are installed, in the order in which they are tried. */
export async function installedTranslators(): Promise<readonly Translator[]> {
  const [slirp, passt, shell] = await Promise.all(['slirp4netns', 'pasta', 'sh'].map(firstRunnable))
  return [
    ...(slirp === undefined ? [] : [slirp4netns(slirp)]),
    ...(passt === undefined || shell === undefined ? [] : [pasta(passt, shell)]),
  ]
}
