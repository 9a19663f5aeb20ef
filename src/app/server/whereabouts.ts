import type { ServerAddresses } from '../../model/server-addresses.ts'

/** The server's addresses, for clients that have only one of its ports; undefined until it listens. */
export interface Whereabouts {
  readonly addresses: () => ServerAddresses | undefined
  /** A complete HTTP/1.1 response, for clients that use the gRPC port for HTTP. */
  readonly misdirected: () => string
  at(grpc: string, http: string): ServerAddresses
}

export function whereabouts(tls: boolean): Whereabouts {
  let addresses: ServerAddresses | undefined
  return {
    addresses: () => addresses,
    misdirected() {
      const error = `this is the gRPC port; HTTP is on ${addresses?.http ?? 'another'}`
      const body = `${JSON.stringify({ ...addresses, error })}\n`
      const head = ['HTTP/1.1 421 Misdirected Request', 'content-type: application/json', 'connection: close']
      return [...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
    },
    at(grpc, http) {
      addresses = { grpc, http, tls }
      return addresses
    },
  }
}
