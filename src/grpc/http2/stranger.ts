/** The protocol of a peer that does not use HTTP/2, detected from its first bytes. */
export type Stranger = 'http' | 'tls' | 'plain'

export const STRANGER_REASON: Readonly<Record<Stranger, string>> = {
  http: 'the peer speaks HTTP/1.1, not gRPC',
  tls: 'the peer speaks TLS, and this connection does not',
  plain: 'the peer does not speak TLS',
}

const REQUEST = /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT) /
const TLS_ALERT = 0x15
const TLS_HANDSHAKE = 0x16
const TLS_MAJOR = 3

/** Returns the protocol of the first bytes on a connection; undefined when they may be HTTP/2. */
export function strangerIn(bytes: Buffer, { isServer }: { readonly isServer: boolean }): Stranger | undefined {
  const [type, major] = bytes
  if ((type === TLS_ALERT || type === TLS_HANDSHAKE) && major === TLS_MAJOR) return 'tls'
  const start = bytes.toString('latin1', 0, 8)
  return (isServer ? REQUEST.test(start) : start.startsWith('HTTP/1.')) ? 'http' : undefined
}

/** Returns the protocol by the error of a failed TLS handshake, whose code is OpenSSL's name of the error. */
export function strangerBehind(code: string): Stranger | undefined {
  if (code.endsWith('ALERT_NO_APPLICATION_PROTOCOL')) return 'http'
  return /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE/.test(code) ? 'plain' : undefined
}
