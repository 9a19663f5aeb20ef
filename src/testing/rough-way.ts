import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A TCP proxy to a server of this machine that can simulate network failures. It closes with the test that made it. */
export interface RoughWay {
  /** `127.0.0.1:port`, constant for the test. */
  readonly address: string
  /** Closes every connection, visibly to both sides; new ones are accepted. */
  cut(): void
  /** From now on nothing passes, without any notice: like an unplugged cable. */
  stall(): void
  /** Closes every connection, and refuses new ones. */
  close(): Promise<void>
  /** Delayed traffic continues, and new connections are accepted again. */
  mend(): Promise<void>
}

type Pair = readonly [near: Socket, far: Socket]

export async function roughWay(port: number): Promise<RoughWay> {
  const pairs = new Set<Pair>()
  let stalled = false
  const server = createServer((near) => {
    const pair = [near, connect(port, '127.0.0.1')] as const
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => {}) // broken connections are expected here
      socket.once('close', () => {
        pairs.delete(pair)
        destroy(pair)
      })
    }
    if (!stalled) join(pair)
  })
  const listen = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done))
  await listen(0)
  const own = (server.address() as AddressInfo).port
  const cut = () => pairs.forEach(destroy)
  const close = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done))
    cut()
    await closed
  }
  onTestFinished(close)
  return {
    address: `127.0.0.1:${own}`,
    cut,
    close,
    stall() {
      stalled = true
      pairs.forEach(part)
    },
    async mend() {
      if (stalled) pairs.forEach(join)
      stalled = false
      if (!server.listening) await listen(own)
    },
  }
}

function join([near, far]: Pair): void {
  near.pipe(far)
  far.pipe(near)
}

const part = (pair: Pair): void => {
  for (const socket of pair) socket.unpipe().pause()
}

const destroy = (pair: Pair): void => {
  for (const socket of pair) socket.destroy()
}
