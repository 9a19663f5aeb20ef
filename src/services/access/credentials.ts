import { FaultError } from '../../base/fault.ts'

/** Looks up a header or metadata field by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined

/**
 * A WebSocket client in a browser cannot set headers: it offers the token as a subprotocol with this prefix, beside the
 * subprotocol that it wants to speak. The server answers with the other one and never with the token.
 */
export const TOKEN_SUBPROTOCOL = 'windlass.token.'

/**
 * Finds the token of a request (an API key or a JWT) in `authorization` as Bearer or as the password of Basic, in
 * `x-auth-token` (Judge0), or in `sec-websocket-protocol`. Returns undefined for a request without one. Throws `denied`
 * for credentials in a form that the server does not accept, and for two different tokens.
 */
export function tokenIn(headerOf: HeaderOf): string | undefined {
  const found = [
    fromAuthorization(headerOf('authorization')),
    headerOf('x-auth-token')?.trim(),
    fromSubprotocols(headerOf('sec-websocket-protocol')),
  ].filter((token) => token !== undefined)
  const [token] = found
  if (found.some((other) => other !== token)) throw refused('the request has two different tokens')
  if (token === '') throw refused('the token is empty')
  return token
}

function fromAuthorization(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const [, scheme, rest = ''] = /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(value) ?? []
  if (scheme?.toLowerCase() === 'bearer') return rest
  if (scheme?.toLowerCase() === 'basic') return passwordIn(rest)
  throw refused('the authorization header must be "Bearer TOKEN", or Basic with the token as the password')
}

/** RFC 7617: base64 of `user:password`. The user is ignored, because the token names its holder. */
function passwordIn(encoded: string): string {
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon === -1) throw refused('the Basic credentials have no password: give the token as the password')
  return text.slice(colon + 1)
}

const fromSubprotocols = (value: string | undefined): string | undefined =>
  value
    ?.split(',')
    .map((offered) => offered.trim())
    .find((offered) => offered.startsWith(TOKEN_SUBPROTOCOL))
    ?.slice(TOKEN_SUBPROTOCOL.length)

const refused = (what: string): FaultError => new FaultError({ kind: 'denied', why: 'unknown-caller', what })
