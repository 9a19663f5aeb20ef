import { once } from 'node:events'
import { createServer as createListener, type Server } from 'node:net'
import { expect } from 'vitest'
import type { ConnectionEnd } from '../../src/grpc/http2/connection-host.ts'
import type { Http2Limits } from '../../src/grpc/http2/limits.ts'
import type { Observer } from '../../src/grpc/observer.ts'
import { createServer } from '../../src/grpc/server/server.ts'
import { ServerConnection } from '../../src/grpc/server/server-connection.ts'
import type { Service } from '../../src/grpc/service.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { call } from '../../src/testing/http2-frames.ts'
import { type ManualTiming, manualTiming } from '../../src/testing/manual-timing.ts'
import { RawHttp2, type RawHttp2Options } from '../../src/testing/raw-http2.ts'
import { serverCore, silentObserver } from '../../src/testing/server-core.ts'
import { abuseService, type Handlers, PATHS } from './abuse-service.ts'

/** A server on a real socket with a manual clock, and everything that an observer of it can see. */
export interface AbusedServer extends AsyncDisposable {
  readonly port: number
  readonly timing: ManualTiming
  readonly ends: readonly ConnectionEnd[]
  readonly bugs: readonly unknown[]
  readonly handlers: Handlers
  connect(options?: RawHttp2Options): Promise<RawHttp2>
  /** Waits until the server has accepted this many connections; a server that waits for its client sends nothing yet. */
  accepted(count: number): Promise<void>
  /** Waits until this many connections have ended, and returns the last of them. */
  ended(count?: number): Promise<ConnectionEnd>
  /** Proves that an attack did no harm: a new connection is served, and no handler was called unexpectedly. */
  expectServing(): Promise<void>
}

export interface WatchedServer extends AbusedServer {
  /** The server's connection objects; a real server does not expose them. */
  readonly connections: readonly ServerConnection[]
  readonly budget: { readonly used: number }
}

export async function abusedServer(limits: Partial<Http2Limits> = {}): Promise<AbusedServer> {
  const parts = beginnings()
  const server = createServer({ services: [parts.service], timing: parts.timing, observer: parts.observer, limits })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  return assemble(parts, 'port' in bound ? bound.port : 0, () => server.close())
}

export async function watchedServer(
  limits: Partial<Http2Limits> = {},
  others: readonly Service[] = [],
): Promise<WatchedServer> {
  const parts = beginnings()
  const core = serverCore([parts.service, ...others], parts.timing, { limits, observer: parts.observer })
  const connections: ServerConnection[] = []
  const listener = createListener((socket) => {
    socket.setNoDelay(true)
    connections.push(new ServerConnection(core, socket, { address: 'test', certificateName: undefined }, () => {}))
  })
  const port = await listen(listener)
  const close = () => {
    listener.close()
    for (const connection of connections) connection.close('the test is over')
  }
  return { ...assemble(parts, port, close), connections, budget: core.budget }
}

async function listen(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

interface Parts {
  readonly service: Service
  readonly handlers: Handlers
  readonly timing: ManualTiming
  readonly observer: Observer
  readonly ends: ConnectionEnd[]
  readonly bugs: unknown[]
  readonly onEnd: Set<() => void>
  readonly opened: () => number
}

function beginnings(): Parts {
  const ends: ConnectionEnd[] = []
  const bugs: unknown[] = []
  const onEnd = new Set<() => void>()
  let opened = 0
  const observer: Observer = {
    ...silentObserver,
    connectionOpened() {
      opened++
    },
    connectionClosed(end) {
      ends.push(end)
      for (const look of onEnd) look()
    },
    handlerFailed: (_path, error) => bugs.push(error),
  }
  return { ...abuseService(), timing: manualTiming(), observer, ends, bugs, onEnd, opened: () => opened }
}

function assemble(
  { handlers, timing, ends, bugs, onEnd, opened }: Parts,
  port: number,
  close: () => void,
): AbusedServer {
  const clients: RawHttp2[] = []
  const connect = async (options?: RawHttp2Options) => {
    const client = await RawHttp2.open(port, options)
    clients.push(client)
    return client
  }
  return {
    port,
    timing,
    ends,
    bugs,
    handlers,
    connect,
    accepted: (count) => eventually(() => expect(opened()).toBe(count)),
    ended: (count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (ends.length < count) return
          onEnd.delete(look)
          resolve(ends.at(-1) as ConnectionEnd)
        }
        onEnd.add(look)
        look()
      }),
    async expectServing() {
      const client = await connect()
      client.send(call(1, PATHS.echo, Buffer.from('still there?')))
      await client.answer(1)
      expect(client.field(1, 'grpc-status')).toBe('0')
      expect(bugs).toEqual([])
    },
    async [Symbol.asyncDispose]() {
      handlers.release()
      for (const client of clients) client.close()
      close()
    },
  }
}
