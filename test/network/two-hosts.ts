import { execFileSync, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/**
 * Two hosts in network namespaces of this test, joined by a cable and connected to nothing else: no packet can leave the
 * machine, whichever address a program sends to. The grid runs on `grid`; `peer` listens on port 80 at every address below and
 * returns the address that it was reached at.
 */
export interface TwoHosts {
  /** The words before a program that is to run on the host. */
  readonly grid: readonly string[]
}

export const GRID_ADDRESS = '10.77.0.1'
export const PEER = {
  /** Stands for a server on the Internet. */
  public: '9.9.9.9',
  private: '10.77.0.2',
  otherPrivate: '192.168.77.2',
  carrier: '100.64.7.7',
  metadata: '169.254.169.254',
} as const

const LISTENER = `
import socket
server = socket.create_server(('0.0.0.0', 80), backlog=100)
print('ready', flush=True)
while True:
    client, _ = server.accept()
    try:
        client.sendall(('reached ' + client.getsockname()[0]).encode())
    except OSError:
        pass
    client.close()
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
  ip('-n', grid, 'link', 'set', `${name}a`, 'up')
  ip('-n', peer, 'link', 'set', `${name}b`, 'up')
  ip('-n', grid, 'route', 'add', 'default', 'via', PEER.private)
  await listenOn(peer)
  return { grid: ['ip', 'netns', 'exec', grid] }
}

async function listenOn(host: string): Promise<void> {
  const listener = spawn('ip', ['netns', 'exec', host, 'python3', '-c', LISTENER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
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
