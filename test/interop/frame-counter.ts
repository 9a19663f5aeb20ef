import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ListenAddress } from '../../src/grpc/address.ts'

export interface FrameCounter {
  readonly address: ListenAddress
  /** The number of frames of a type that clients have sent. */
  count(type: number): number
  /** The size of the largest frame of a type that the server has sent. */
  largestAnswer(type: number): number
  /** Forwards nothing from now on, without closing a connection. */
  hold(): void
  close(): void
}

const PREFACE_BYTES = 24

/** A proxy between clients and a server that forwards all bytes unchanged and inspects the HTTP/2 frames. */
export async function frameCounter(server: ListenAddress): Promise<FrameCounter> {
  const counts = new Map<number, number>()
  const largest = new Map<number, number>()
  const sockets: Socket[] = []
  const listener = createServer((client) => {
    const upstream = connect(server)
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
    watchFrames(client, PREFACE_BYTES, (type) => counts.set(type, (counts.get(type) ?? 0) + 1))
    watchFrames(upstream, 0, (type, size) => largest.set(type, Math.max(largest.get(type) ?? 0, size)))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    address: { host: '127.0.0.1', port: (listener.address() as AddressInfo).port },
    count: (type) => counts.get(type) ?? 0,
    largestAnswer: (type) => largest.get(type) ?? 0,
    hold() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    close() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function watchFrames(socket: Socket, from: number, onFrame: (type: number, size: number) => void): void {
  let rest = Buffer.alloc(0)
  let skip = from
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const skipped = Math.min(skip, rest.length)
      rest = rest.subarray(skipped)
      skip -= skipped
      if (skip > 0 || rest.length < 9) return
      const size = rest.readUIntBE(0, 3)
      onFrame(rest[3] as number, size)
      skip = 9 + size
    }
  })
}
