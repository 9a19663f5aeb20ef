import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseAddress } from '../config/bind-address.ts'
import type { Config } from '../config/config.ts'

/**
 * Settings, as variables, with which the worker of `windlass up` trusts its server. [worker.tls] takes precedence.
 * Without it the worker trusts the server's own chain, and expects a name from the certificate: the worker connects to
 * the listening address, and certificates are often issued for another name.
 */
export function ownTrust({ server: { tls }, worker }: Config, grpc: string): Readonly<Record<string, string>> {
  if (tls.cert_file === undefined) return {}
  const trust = worker.tls.ca_file === undefined ? { WINDLASS_WORKER_TLS_CA_FILE: tls.cert_file } : {}
  const name = worker.tls.server_name ?? nameFor(new X509Certificate(readFileSync(tls.cert_file)), grpc)
  return name === undefined ? trust : { ...trust, WINDLASS_WORKER_TLS_SERVER_NAME: name }
}

/** A name in the certificate; undefined when the dialled host is one. */
function nameFor(certificate: X509Certificate, grpc: string): string | undefined {
  const address = parseAddress(grpc)
  const host = address === undefined || 'path' in address ? 'localhost' : address.host
  if ((isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined) return undefined
  const [, kind, name] = /(DNS|IP Address):([^,]+)/.exec(certificate.subjectAltName ?? '') ?? []
  // A wildcard stands for one label (RFC 6125, section 6.4.3).
  if (name !== undefined) return kind === 'DNS' ? name.replace(/^\*/, 'windlass') : name
  return /CN=(.+)/.exec(certificate.subject)?.[1]
}
