import { expect, test } from 'vitest'
import { TOKEN_SUBPROTOCOL, tokenIn } from './credentials.ts'

const tokenOf = (headers: Readonly<Record<string, string>>): string | undefined => tokenIn((name) => headers[name])
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

test('a request without credentials has no token', () => {
  expect(tokenOf({ 'sec-websocket-protocol': 'chat, other' })).toBeUndefined()
})

test.each([
  ['a bearer token', { authorization: 'Bearer secret' }],
  ['a bearer token with another case and spaces', { authorization: '  bEARER   secret ' }],
  ['the password of Basic', { authorization: basic('ci:secret') }],
  ['the password of Basic without a user', { authorization: basic(':secret') }],
  ["Judge0's header", { 'x-auth-token': 'secret' }],
  ['a subprotocol', { 'sec-websocket-protocol': `windlass, ${TOKEN_SUBPROTOCOL}secret` }],
  ['the same token twice', { authorization: 'Bearer secret', 'x-auth-token': 'secret' }],
])('the token is found in %s', (_, headers) => {
  expect(tokenOf(headers)).toBe('secret')
})

test('a password may contain colons', () => {
  expect(tokenOf({ authorization: basic('user:a:b') })).toBe('a:b')
})

test.each([
  ['an unknown scheme', { authorization: 'Digest username="x"' }],
  ['a token without a scheme', { authorization: 'secret' }],
  ['two words after Bearer', { authorization: 'Bearer one two' }],
  ['two headers that a proxy joined', { authorization: 'Bearer one, Bearer two' }],
  ['Basic without a colon', { authorization: basic('secret') }],
  ['an empty password', { authorization: basic('user:') }],
  ['an empty subprotocol token', { 'sec-websocket-protocol': TOKEN_SUBPROTOCOL }],
  ['two different tokens', { authorization: 'Bearer one', 'x-auth-token': 'two' }],
])('%s is denied as an unknown caller', (_, headers) => {
  expect(() => tokenOf(headers)).toThrow(
    expect.objectContaining({ fault: expect.objectContaining({ kind: 'denied', why: 'unknown-caller' }) }),
  )
})

test('a refusal never contains the token', () => {
  for (const headers of [{ authorization: 'Token s3cret' }, { authorization: basic('s3cret') }])
    try {
      tokenOf(headers)
      expect.unreachable()
    } catch (error) {
      expect(String(error)).not.toContain('s3cret')
    }
})
