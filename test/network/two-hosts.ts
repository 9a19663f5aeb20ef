import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * Two hosts in network namespaces of this test, connected to each other and to nothing else: no packet can leave the
 * machine, whichever address a program sends to. The grid runs on `grid`; `peer` listens on port 80 of every address
 * below, and is the name server of `grid`.
 */
export interface TwoHosts {
  /** The command prefix that runs a program on the host. */
  readonly grid: readonly string[]
}

const PUBLIC = '9.9.9.9'
export const GRID_ADDRESS = '10.77.0.1'
export const GRID_ADDRESS6 = 'fd77::1'
/** The peer's IPv6 addresses: a private one, and one that stands for a server on the Internet. */
export const PEER6 = { private: 'fd77::2', public: '2606:4700:77::2' } as const
export const PEER = {
  /** Stands for a server on the Internet. */
  public: PUBLIC,
  private: '10.77.0.2',
  otherPrivate: '192.168.77.2',
  carrier: '100.64.7.7',
  metadata: '169.254.169.254',
} as const

/** Multicast groups of which the peer is a member: those of mDNS, which no router forwards, and of SSDP. */
export const GROUPS = ['224.0.0.251', '239.255.255.250'] as const

/** Listens on port 80 by TCP and UDP, and resolves every name at port 53 to the public server. */
const LISTENER = `
import selectors, socket, sys
def datagrams(address, port):
    one = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, port))
    return one
stream = [socket.create_server(('0.0.0.0', 80), backlog=100), socket.create_server(('::', 80), family=socket.AF_INET6, backlog=100)]
echo = [datagrams(address, 80) for address in sys.argv[1:]] # an answer has to come from the address that was asked
for group in ${JSON.stringify(GROUPS)}:
    one = datagrams(group, 80)
    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton('${PEER.private}'))
    echo.append(one)
names = datagrams('${PEER.private}', 53)
all = selectors.DefaultSelector()
for one in stream + echo + [names]: all.register(one, selectors.EVENT_READ)
print('ready', flush=True)
while True:
    for key, _ in all.select():
        one = key.fileobj
        try:
            if one in stream:
                client, _ = one.accept()
                client.sendall(b'reached')
                client.close()
            elif one is names:
                question, asker = one.recvfrom(512)
                end = 12 + question[12:].index(b'\\0') + 5
                address = b'\\xc0\\x0c\\x00\\x01\\x00\\x01\\x00\\x00\\x00\\x3c\\x00\\x04' + socket.inet_aton('${PUBLIC}')
                one.sendto(question[:2] + b'\\x81\\x80\\x00\\x01\\x00\\x01\\x00\\x00\\x00\\x00' + question[12:end] + address, asker)
            else:
                one.sendto(b'reached', one.recvfrom(512)[1])
        except OSError:
            pass
`

/** Gives a program another /etc/resolv.conf ($1), by a mount in its own namespace. */
const WITH_NAMES = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"'

/**
 * Needs root, iproute2, util-linux and python3. The namespaces have no names (`ip netns`): names are mounts that all
 * programs of the machine share, and another program may hide them.
 */
export async function twoHosts(): Promise<TwoHosts> {
  const [grid, peer] = [await newHost(), await newHost()]
  const ip = (host: Host, ...words: readonly string[]): void => {
    const [program = '', ...before] = host.enter
    execFileSync(program, [...before, 'ip', ...words])
  }
  for (const host of [grid, peer]) ip(host, 'link', 'set', 'lo', 'up')
  ip(grid, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', `${peer.pid}`)
  ip(grid, 'addr', 'add', `${GRID_ADDRESS}/24`, 'dev', 'cable')
  for (const address of Object.values(PEER)) ip(peer, 'addr', 'add', `${address}/24`, 'dev', 'cable')
  ip(grid, 'addr', 'add', `${GRID_ADDRESS6}/64`, 'dev', 'cable', 'nodad')
  for (const address of Object.values(PEER6)) ip(peer, 'addr', 'add', `${address}/64`, 'dev', 'cable', 'nodad')
  for (const host of [grid, peer]) ip(host, 'link', 'set', 'cable', 'up')
  ip(grid, 'route', 'add', 'default', 'via', PEER.private)
  ip(grid, '-6', 'route', 'add', 'default', 'via', PEER6.private)
  await started([...peer.enter, 'python3', '-c', LISTENER, ...Object.values(PEER), ...Object.values(PEER6)])
  return { grid: [...grid.enter, 'unshare', '--mount', 'sh', '-c', WITH_NAMES, 'sh', namesFile(PEER.private)] }
}

interface Host {
  readonly pid: number
  /** The command prefix that runs a program there. */
  readonly enter: readonly string[]
}

/** A network namespace that exists as long as the test. */
async function newHost(): Promise<Host> {
  const pid = await started(['unshare', '--net', 'sh', '-c', 'echo ready; exec cat'])
  return { pid, enter: ['nsenter', `--net=/proc/${pid}/ns/net`] }
}

function namesFile(server: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-names-'))
  chmodSync(folder, 0o755)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'resolv.conf')
  writeFileSync(file, `nameserver ${server}\n`)
  return file
}

/** Starts a program and waits for its first line; it is killed at the end of the test. */
async function started([program = '', ...words]: readonly string[]): Promise<number> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  await Promise.race([
    new Promise<void>((resolve) => void child.stdout.once('data', () => resolve())),
    gone.then(() => Promise.reject(new Error(`${program} ${words[0]} ended before it was ready`))),
  ])
  return child.pid as number
}
