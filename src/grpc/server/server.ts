import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  Server as TlsServer,
} from 'node:tls'
import type { ListenAddress } from '../address.ts'
import { DEFAULT_LIMITS, type Http2Limits } from '../http2/limits.ts'
import { readingShared } from '../http2/shared-reading.ts'
import type { Timing } from '../http2/timing.ts'
import type { Observer } from '../observer.ts'
import type { Peer, Service } from '../service.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { Routes } from './routes.ts'
import { ServerConnection } from './server-connection.ts'
import type { ServerCore } from './server-core.ts'

export interface ServerTls {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Certificates that must have signed client certificates. If set, a client without one is refused (mTLS). */
  readonly clientCa?: string | Buffer
}

export interface GrpcServerOptions {
  readonly services: readonly Service[]
  readonly timing: Timing
  readonly observer?: Observer
  readonly limits?: Partial<Http2Limits>
  readonly tls?: ServerTls
  /** Returns a whole HTTP/1.1 response, for HTTP clients that use this port by mistake. */
  readonly http1Answer?: () => string
}

export interface GrpcServer {
  /** Binds an address; may be called several times. Returns the bound address. */
  listen(address: ListenAddress): Promise<ListenAddress>
  /** Accepts no new connections or calls, waits up to `graceMs` for running ones, then closes the rest. */
  drain(graceMs: number): Promise<void>
  /** New connections use these certificates; open ones keep theirs. Only for a server that was created with TLS. */
  setTls(tls: ServerTls): void
  close(): void
}

const NO_OBSERVER: Observer = {
  method: () => ({ started() {}, finished() {} }),
  connectionOpened() {},
  connectionClosed() {},
  handlerFailed() {},
}

export function createServer(options: GrpcServerOptions): GrpcServer {
  const observer = options.observer ?? NO_OBSERVER
  const limits: Http2Limits = { ...DEFAULT_LIMITS, ...options.limits }
  const { timing } = options
  const core: ServerCore = {
    routes: new Routes(options.services, observer),
    observer,
    limits,
    timing,
    wheel: new TimerWheel(timing),
    budget: { used: 0, most: limits.maxServerBufferedBytes },
    http1Answer: options.http1Answer,
  }
  const listeners: NetServer[] = []
  let tls = options.tls
  const connections = new Set<ServerConnection>()
  let whenEmpty: () => void = () => {}

  const accept = (socket: Socket): void => {
    socket.setNoDelay(true)
    const connection = new ServerConnection(core, socket, peerOf(socket), () => {
      connections.delete(connection)
      if (connections.size === 0) whenEmpty()
    })
    connections.add(connection)
  }

  const close = (): void => {
    for (const listener of listeners) listener.close()
    for (const connection of [...connections]) connection.close('the server is closing')
  }

  return {
    async listen(address) {
      const listener =
        tls === undefined
          ? createNetServer({ pauseOnConnect: true }, (socket) => accept(readingShared(socket)))
          : tlsListener(tls, accept)
      listeners.push(listener)
      return await bind(listener, address)
    },
    async drain(graceMs) {
      for (const listener of listeners) listener.close()
      for (const connection of connections) connection.drain()
      await new Promise<void>((resolve) => {
        const cancel = timing.after(graceMs, resolve)
        whenEmpty = () => {
          cancel()
          resolve()
        }
        if (connections.size === 0) whenEmpty()
      })
      close()
    },
    setTls(next) {
      tls = next
      for (const listener of listeners) if (listener instanceof TlsServer) listener.setSecureContext(contextOf(next))
    },
    close,
  }
}

const contextOf = ({ cert, key, clientCa }: ServerTls): SecureContextOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ...(clientCa === undefined ? {} : { ca: clientCa }),
})

function tlsListener(tls: ServerTls, accept: (socket: TLSSocket) => void): NetServer {
  const listener = createTlsServer({
    ...contextOf(tls),
    ALPNProtocols: ['h2'],
    ...(tls.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  })
  listener.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') accept(socket)
    else socket.destroy()
  })
  // A failed handshake is an error of the peer; the socket is already closed.
  listener.on('tlsClientError', () => {})
  return listener
}

function bind(listener: NetServer, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(address, () => {
      listener.off('error', reject)
      const bound = listener.address()
      if (bound === null || typeof bound === 'string') resolve({ path: bound ?? '' })
      else resolve({ host: bound.address, port: bound.port })
    })
  })
}

function peerOf(socket: Socket): Peer {
  const { remoteAddress, remotePort } = socket
  const certificate = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate() : undefined
  return {
    address: remoteAddress === undefined ? 'unix:' : `${remoteAddress}:${remotePort}`,
    certificateName: commonName(certificate?.subject?.CN),
  }
}

const commonName = (name: string | string[] | undefined): string | undefined => (Array.isArray(name) ? name[0] : name)
