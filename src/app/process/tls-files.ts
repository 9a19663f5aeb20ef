import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { FaultError } from '../../base/fault.ts'
import type { ClientTls } from '../../grpc/client/channel.ts'

export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  /** Clients must present a certificate that one of these signed. */
  readonly clientCa?: string
}

export interface TlsFiles {
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
  readonly client_ca_file?: string | undefined
}

/** Reads and verifies the TLS files; undefined when TLS is not configured. */
export function readTlsFiles({ cert_file, key_file, client_ca_file }: TlsFiles): TlsMaterial | undefined {
  if (cert_file === undefined || key_file === undefined) return undefined
  const cert = telling(`server.tls.cert_file`, () => readFileSync(cert_file, 'utf8'))
  const key = telling(`server.tls.key_file`, () => readFileSync(key_file, 'utf8'))
  telling(`server.tls: ${cert_file} with ${key_file}`, () => createSecureContext({ cert, key }))
  if (client_ca_file === undefined) return { cert, key }
  const clientCa = telling('server.tls.client_ca_file', () => readFileSync(client_ca_file, 'utf8'))
  telling(`server.tls.client_ca_file: ${client_ca_file}`, () => checkAuthorities(clientCa))
  return { cert, key, clientCa }
}

/** Verifies the files of a client. Throws `invalid`; `what` names the settings. */
export function checkClientTls(what: string, { ca, cert, key }: ClientTls): void {
  if (ca !== undefined) telling(`${what} ca`, () => checkAuthorities(String(ca)))
  if (cert !== undefined || key !== undefined) telling(`${what} cert and key`, () => createSecureContext({ cert, key }))
}

/** Throws when PEM text has no certificate. TLS contexts accept such a text and trust nothing. */
function checkAuthorities(pem: string): void {
  if (!/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(pem)) throw new Error('it has no certificate in PEM')
  createSecureContext({ ca: pem })
}

function telling<T>(what: string, attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new FaultError({ kind: 'invalid', what: `${what}: ${why}` }, error)
  }
}
