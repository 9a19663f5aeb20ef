import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { onBytes, readingShared } from './shared-reading.ts'

/** A listener whose sockets read into the shared buffer; `dial` returns a peer and its socket. */
async function listening() {
  const accepted: Socket[] = []
  const listener = createServer({ pauseOnConnect: true }, (socket) => accepted.push(readingShared(socket)))
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    listener,
    async dial(): Promise<[peer: Socket, socket: Socket]> {
      const peer = connect(port, '127.0.0.1')
      await once(peer, 'connect')
      while (accepted.length === 0) await new Promise((resolve) => setImmediate(resolve))
      return [peer, accepted.shift() as Socket]
    },
  }
}

test('sockets that share a receive buffer each get their own bytes, in order', async () => {
  const { listener, dial } = await listening()
  const pairs = [await dial(), await dial(), await dial()]
  const received = pairs.map(([, socket]) => {
    const pieces: Buffer[] = []
    onBytes(socket, (bytes) => pieces.push(Buffer.from(bytes)))
    return pieces
  })
  const sent = pairs.map((_, i) => Buffer.alloc(3_000_000, `peer ${i} `))
  for (const [i, [peer]] of pairs.entries()) peer.end(sent[i] as Buffer)
  await Promise.all(pairs.map(([, socket]) => once(socket, 'end')))
  for (const [i, pieces] of received.entries()) expect(Buffer.concat(pieces).equals(sent[i] as Buffer)).toBe(true)
  for (const [, socket] of pairs) socket.destroy()
  listener.close()
  await once(listener, 'close')
})

test('a socket with a shared buffer has its remote port, can write, and closes when the peer resets', async () => {
  const { listener, dial } = await listening()
  const [peer, socket] = await dial()
  expect(socket.remotePort).toBe(peer.localPort)
  onBytes(socket, (bytes) => socket.write(Buffer.from(bytes)))
  peer.write('hello')
  const [echo] = await once(peer, 'data')
  expect(String(echo)).toBe('hello')
  peer.resetAndDestroy()
  await new Promise<void>((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
  listener.close()
  await once(listener, 'close')
})

test('a stream that cannot use the shared buffer still reports its bytes', async () => {
  const stream = new PassThrough()
  const pieces: string[] = []
  onBytes(stream, (bytes) => pieces.push(String(bytes)))
  stream.end('hello')
  await once(stream, 'end')
  expect(pieces).toEqual(['hello'])
})
