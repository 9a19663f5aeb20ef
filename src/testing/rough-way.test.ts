import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { roughWay } from './rough-way.ts'

/** An echo server, and the proxy to it. */
async function wayToEcho() {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return roughWay((server.address() as AddressInfo).port)
}

async function caller(address: string): Promise<Socket> {
  const socket = connect(Number(address.split(':')[1]), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function echoOf(socket: Socket, printed: string): Promise<string> {
  const received = once(socket, 'data')
  socket.write(printed)
  return String((await received)[0])
}

test('the proxy forwards bytes in both directions', async () => {
  const way = await wayToEcho()
  expect(await echoOf(await caller(way.address), 'hello')).toBe('hello')
})

test('cut() ends every connection, and the next connection is accepted', async () => {
  const way = await wayToEcho()
  const callers = [await caller(way.address), await caller(way.address)]
  for (const socket of callers) await echoOf(socket, 'hello')
  const ends = callers.map((socket) =>
    once(
      socket.on('error', () => {}),
      'close',
    ),
  )
  way.cut()
  await Promise.all(ends)
  expect(await echoOf(await caller(way.address), 'again')).toBe('again')
})

test('stall() stops old and new connections, and mend() delivers everything', async () => {
  const way = await wayToEcho()
  const old = await caller(way.address)
  await echoOf(old, 'hello')
  way.stall()
  const young = await caller(way.address)
  let received = 0
  for (const socket of [old, young]) socket.on('data', () => received++)
  const echoes = [echoOf(old, 'old'), echoOf(young, 'young')]
  await new Promise((done) => setTimeout(done, 50)) // long enough for traffic that is not stalled
  expect(received).toBe(0)
  await way.mend()
  expect(await Promise.all(echoes)).toEqual(['old', 'young'])
})

test('close() refuses connections, and mend() listens on the same port again', async () => {
  const way = await wayToEcho()
  await way.close()
  await expect(caller(way.address)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await way.mend()
  expect(await echoOf(await caller(way.address), 'back')).toBe('back')
})
