import { GRID_ADDRESS, GRID_ADDRESS6, GROUPS, PEER, PEER6 } from './two-hosts.ts'

/** The attempts of a program in a room, in Python: prints one line for each, `NAME through` or `NAME refused`. */
const TOOLS = `
import concurrent.futures, os, socket, subprocess
def outcome(name, act):
    try:
        return name + (' through' if act() is not False else ' refused')
    except OSError:
        return name + ' refused'
tries = []
def tell(name, act): tries.append((name, act))
def reach(address, port=80, bound=False, direct=False, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, kind) as one:
        one.settimeout(3)
        if bound: one.setsockopt(socket.SOL_SOCKET, 25, b'tap0')  # SO_BINDTODEVICE, which needs no right
        if direct: one.setsockopt(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)
        one.connect((address, port))
        if kind == socket.SOCK_DGRAM: one.send(b'hello')
        return one.recv(100) == b'reached'
def ask(group, *options, source=''):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(3)
        for option in options: one.setsockopt(*option)
        one.bind((source, 0))
        one.sendto(b'hello', (group, 80))
        return one.recv(100) == b'reached'
def ip(*words):
    return subprocess.run(['ip', *words], capture_output=True).returncode == 0
`

const CLOSED: readonly string[] = [
  ...[GRID_ADDRESS, PEER.private, PEER.otherPrivate, PEER.carrier, PEER.metadata, `::ffff:${PEER.private}`],
  ...[GRID_ADDRESS6, PEER6.private],
]
/** Addresses of the translator itself. */
const GATEWAYS = ['198.18.255.2', '198.18.255.3']

const WAYS = {
  plainly: '',
  'bound to the interface': ', bound=True',
  'without routing': ', direct=True',
  'bound and without routing': ', bound=True, direct=True',
  'by datagrams': ', kind=socket.SOCK_DGRAM',
  'by datagrams, bound': ', kind=socket.SOCK_DGRAM, bound=True',
} as const

const quoted = (text: string): string => `'${text}'`

const reaching = CLOSED.flatMap((address) =>
  Object.entries(WAYS).map(([way, words]) => `tell('${address} ${way}', lambda: reach('${address}'${words}))`),
)

/** The control plane listens on the loopback of the host. */
const loopback = ['127.0.0.1', ...GATEWAYS].flatMap((address) =>
  [8980, 80].flatMap((port) =>
    ['', ', bound=True'].map((way) => `tell('${address}:${port}${way}', lambda: reach('${address}', ${port}${way}))`),
  ),
)

/** Multicast needs neither a route nor a neighbour entry; a member responds from its own, private address. */
const ADDRESS = "'198.18.255.100'"
const groups = GROUPS.flatMap((group) =>
  Object.entries({
    plainly: '',
    'bound to the interface': ", (socket.SOL_SOCKET, 25, b'tap0')",
    'by the interface of multicast': `, (socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(${ADDRESS}))`,
    'from the address': `, source=${ADDRESS}`,
  }).map(([way, words]) => `tell('group ${group} ${way}', lambda: ask('${group}'${words}))`),
)

const CHANGES: readonly (readonly string[])[] = [
  ['route', 'del', 'unreachable', '10.0.0.0/8'],
  ['route', 'replace', '10.0.0.0/8', 'via', '198.18.255.2', 'dev', 'tap0', 'onlink'],
  ['rule', 'add', 'to', '10.0.0.0/8', 'lookup', '5353'],
  ['neigh', 'replace', PEER.private, 'lladdr', '52:55:c6:12:ff:02', 'dev', 'tap0', 'nud', 'permanent'],
  ['ntable', 'change', 'name', 'arp_cache', 'dev', 'tap0', 'mcast_probes', '3'],
  ['link', 'set', 'tap0', 'down'],
  ['addr', 'add', '10.77.0.9/24', 'dev', 'tap0'],
]
const changes = CHANGES.map((words) => `tell('ip ${words.join(' ')}', lambda: ip(${words.map(quoted).join(', ')}))`)

const rights = [
  `tell('a raw socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6))`,
  `tell('a packet socket', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))`,
  `tell('a tunnel', lambda: os.open('/dev/net/tun', os.O_RDWR))`,
  `tell('forwarding', lambda: open('/proc/sys/net/ipv4/ip_forward', 'w').write('1'))`,
]

/** The name server answers DNS queries only, and is otherwise a private address. */
const names = [`tell('the name server by TCP', lambda: reach('${PEER.private}', 80))`]

/** All attempts run concurrently: most of them wait for a response that never arrives. */
const TELL = `
with concurrent.futures.ThreadPoolExecutor(100) as all:
    for line in all.map(lambda one: outcome(*one), tries): print(line)
`

/** None of these attempts may succeed. */
export const ATTACKS_ON_ROUTES = [
  TOOLS,
  ...reaching,
  ...loopback,
  ...groups,
  ...changes,
  ...rights,
  ...names,
  TELL,
].join('\n')

/** All of these must succeed: the public server, the addresses that the operator lists, and name resolution. */
export const allowed = (listed: readonly string[]): string =>
  [
    TOOLS,
    `tell('public', lambda: reach('${PEER.public}'))`,
    `tell('public by datagrams', lambda: reach('${PEER.public}', kind=socket.SOCK_DGRAM))`,
    `tell('a name', lambda: socket.gethostbyname('somewhere.example') == '${PEER.public}')`,
    ...listed.map((address) => `tell('${address}', lambda: reach('${address}'))`),
    TELL,
  ].join('\n')
