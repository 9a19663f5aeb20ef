/** Both ports of a server answer a GET of this path with `ServerAddresses` as JSON. */
export const ADDRESSES_PATH = '/.well-known/windlass'

/** Each as `host:port`, `[ipv6]:port` or `unix:/path`. */
export interface ServerAddresses {
  readonly grpc: string
  readonly http: string
  readonly tls: boolean
}
