import { formatAddress, isLocal, parseAddress } from './bind-address.ts'
import type { Config } from './config.ts'

/**
 * Returns the keys whose address other machines can reach without authentication. Mutual TLS is the only authentication
 * so far; plain TLS encrypts but does not identify the caller.
 */
export function exposedKeys({ server }: Config): string[] {
  if (server.tls.client_ca_file !== undefined) return []
  return [['server.address', server.address] as const, ['server.http_address', server.http_address] as const].flatMap(
    ([key, text]) => {
      const address = parseAddress(text)
      return address === undefined || isLocal(address) ? [] : [key]
    },
  )
}

/** The error for an exposed address, with the ways to fix it. */
export function exposureProblem(key: string, text: string): string {
  const address = parseAddress(text)
  const port = address !== undefined && 'port' in address ? address.port : 0
  const local = formatAddress({ host: '127.0.0.1', port })
  return (
    `${key} = "${text}" can be reached from other machines, and callers are not authenticated. ` +
    `If the network is trusted, add --insecure (or insecure = true under [server]); ` +
    `otherwise set client_ca_file under [server.tls], or listen on ${local}`
  )
}

/**
 * The host names that HTTP requests may use, in addition to loopback names. They include the configured address: a DNS
 * rebinding attack cannot use it, because its requests contain the attacker's host name.
 */
export function servedHosts({ server, http }: Config): string[] {
  const address = parseAddress(server.http_address)
  if (address === undefined || 'path' in address || ANY_HOST.has(address.host)) return http.allowed_hosts
  return [...http.allowed_hosts, address.host]
}

const ANY_HOST = new Set(['0.0.0.0', '::'])
