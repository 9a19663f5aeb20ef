import { once } from 'node:events'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { manualTiming } from '../../testing/manual-timing.ts'
import { createServer, type GrpcServer } from '../server/server.ts'
import { STATUS } from '../status.ts'
import { type Channel, createChannel } from './channel.ts'

const PATH = '/t.T/Echo'
const HELLO = Buffer.from('hello')
const BAD = { metadata: { 'not a name': 'x' } }

describe('a channel given invalid metadata', () => {
  let server: GrpcServer
  let channel: Channel

  beforeEach(async () => {
    const timing = manualTiming()
    const services = [
      { name: 't.T', methods: { Echo: { kind: 'unary', handle: (request: Uint8Array) => request } } },
    ] as const
    server = createServer({ services, timing })
    channel = createChannel({ address: await server.listen({ host: '127.0.0.1', port: 0 }), timing })
  })

  afterEach(() => {
    channel.close()
    server.close()
  })

  const outcome = async () => channel.unary(PATH, HELLO, BAD)

  test('fails the call with INTERNAL on an open connection', async () => {
    await channel.unary(PATH, HELLO)
    await expect(outcome()).rejects.toMatchObject({ code: STATUS.internal })
  })

  test('fails only that call with INTERNAL while the connection is being established', async () => {
    await expect(outcome()).rejects.toMatchObject({ code: STATUS.internal })
    const { message } = await channel.unary(PATH, HELLO)
    expect(Buffer.from(message)).toEqual(HELLO)
  })

  test('fails a stream with INTERNAL', async () => {
    await expect((async () => channel.open(PATH, BAD).next())()).rejects.toMatchObject({ code: STATUS.internal })
  })
})

test('a channel closed while dialling fails its call with UNAVAILABLE and leaves no connection or timer', async () => {
  const listener = createListener((socket) => socket.on('error', () => {}).resume())
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  let timers = 0
  const timing = {
    now: () => 0,
    after() {
      timers++
      return () => void timers--
    },
  }
  const channel = createChannel({ address: { host: '127.0.0.1', port }, timing })
  const call = channel.unary(PATH, HELLO)
  channel.close()
  await expect(call).rejects.toMatchObject({ code: STATUS.unavailable })
  expect(timers).toBe(0)
  // 'close' is emitted only after every connection has ended.
  listener.close()
  await once(listener, 'close')
})
