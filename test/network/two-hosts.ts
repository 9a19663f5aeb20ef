import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/**
 * Two hosts in network namespaces of this test, joined by a cable and connected to nothing else: no packet can leave the
 * machine, whichever address a program sends to. The grid runs on `grid`; `peer` answers at
 * port 80 of every address below, and is the name server of `grid`.
 */
export interface TwoHosts {
  /** The words before a program that is to run on the host. */
  readonly grid: readonly string[]
}

const PUBLIC = '9.9.9.9'
export const GRID_ADDRESS = '10.77.0.1'
export const GRID_ADDRESS6 = 'fd77::1'
/** The addresses of IPv6 that the peer has: a private one, and one that stands for a server on the Internet. */
export const PEER6 = { private: 'fd77::2', public: '2606:4700:77::2' } as const
export const PEER = {
  /** Stands for a server on the Internet. */
  public: PUBLIC,
  private: '10.77.0.2',
  otherPrivate: '192.168.77.2',
  carrier: '100.64.7.7',
  metadata: '169.254.169.254',
} as const

/** Answers at port 80, by TCP and UDP, and questions for names at port 53: every name is that of the public server. */
const LISTENER = `
import selectors, socket, sys
def datagrams(address, port):
    one = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, port))
    return one
stream = [socket.create_server(('0.0.0.0', 80), backlog=100), socket.create_server(('::', 80), family=socket.AF_INET6, backlog=100)]
echo = [datagrams(address, 80) for address in sys.argv[1:]] # an answer has to come from the address that was asked
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

let made = 0

/** Needs root, iproute2 and python3. */
export async function twoHosts(): Promise<TwoHosts> {
  const name = `wl${process.pid}x${++made}`
  const [grid, peer] = [`${name}g`, `${name}p`]
  const ip = (...words: readonly string[]): void => void execFileSync('ip', words)
  for (const host of [grid, peer]) {
    ip('netns', 'add', host)
    onTestFinished(() => ip('netns', 'del', host))
    ip('-n', host, 'link', 'set', 'lo', 'up')
  }
  ip('link', 'add', `${name}a`, 'netns', grid, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', peer)
  ip('-n', grid, 'addr', 'add', `${GRID_ADDRESS}/24`, 'dev', `${name}a`)
  for (const address of Object.values(PEER)) ip('-n', peer, 'addr', 'add', `${address}/24`, 'dev', `${name}b`)
  ip('-n', grid, 'addr', 'add', `${GRID_ADDRESS6}/64`, 'dev', `${name}a`, 'nodad')
  for (const address of Object.values(PEER6)) ip('-n', peer, 'addr', 'add', `${address}/64`, 'dev', `${name}b`, 'nodad')
  ip('-n', grid, 'link', 'set', `${name}a`, 'up')
  ip('-n', peer, 'link', 'set', `${name}b`, 'up')
  ip('-n', grid, 'route', 'add', 'default', 'via', PEER.private)
  ip('-n', grid, '-6', 'route', 'add', 'default', 'via', PEER6.private)
  nameServerOf(grid, PEER.private)
  await listenOn(peer)
  return { grid: ['ip', 'netns', 'exec', grid] }
}

/** `ip netns exec` shows a program the files below /etc/netns in place of those in /etc. */
function nameServerOf(host: string, address: string): void {
  const folder = `/etc/netns/${host}`
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(`${folder}/resolv.conf`, `nameserver ${address}\n`)
}

async function listenOn(host: string): Promise<void> {
  const listener = spawn(
    'ip',
    ['netns', 'exec', host, 'python3', '-c', LISTENER, ...Object.values(PEER), ...Object.values(PEER6)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const gone = new Promise<void>((resolve) => void listener.once('close', () => resolve()))
  onTestFinished(async () => {
    listener.kill('SIGKILL')
    await gone
  })
  await Promise.race([
    new Promise<void>((resolve) => void listener.stdout.once('data', () => resolve())),
    gone.then(() => Promise.reject(new Error('the listener on the other host has ended'))),
  ])
}
