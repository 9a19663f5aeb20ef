/** Clearer texts for TLS handshake errors. */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** Returns the cause of a failed connection attempt as text. */
export function dialProblem(code: string, message: string): string {
  if (UNTRUSTED.has(code)) return `the server's certificate is signed by none that is trusted here (${code})`
  if (code === 'CERT_HAS_EXPIRED') return "the server's certificate has expired"
  // In TLS 1.3 the server checks the client's certificate after the handshake: only the message names the alert then.
  const alert = /alert (certificate required|handshake failure|bad certificate|unknown ca)/i.exec(message)?.[1]
  if (alert !== undefined) return `the server requires a client certificate that it trusts (${alert})`
  return message
}
