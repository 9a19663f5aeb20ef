import { expect, test } from 'vitest'
import { kindOfField, kindOfName } from './classify.ts'
import { FIELD } from './header-field.ts'

const classify = (name: string, value: string) => kindOfField(kindOfName(name), value)

test.each([
  [':method', 'POST', FIELD.method],
  [':scheme', 'http', FIELD.scheme],
  [':path', '/a.B/C', FIELD.path],
  [':authority', 'localhost:1', FIELD.authority],
  [':status', '200', FIELD.status],
  ['content-type', 'application/grpc+proto', FIELD.contentType],
  ['content-length', '0017', FIELD.contentLength],
  ['te', 'trailers', FIELD.te],
  ['grpc-timeout', '10S', FIELD.grpcTimeout],
  ['grpc-encoding', 'identity', FIELD.grpcEncoding],
  ['grpc-status', '0', FIELD.grpcStatus],
  ['grpc-message', 'not%20found', FIELD.grpcMessage],
  ['x-trace-bin', 'AAEC', FIELD.regular],
  ["!#$%&'*+-.^_`|~09az", 'every character that a name may have', FIELD.regular],
  ['x-empty', '', FIELD.regular],
  ['x-latin', 'caf\u00e9 \u0080\u00ff', FIELD.regular],
  ['x-inner', 'a \t b\u0001', FIELD.regular],
])('field "%s: %s" is classified by its name', (name, value, kind) => {
  expect(classify(name, value)).toBe(kind)
})

test.each([
  ['an upper-case letter', 'X-trace'],
  ['an unknown pseudo-header', ':protocol'],
  ['a colon alone', ':'],
  ['a pseudo-header in upper case', ':Path'],
  ['an inner colon', 'a:b'],
  ['an empty name', ''],
  ['a space', 'a b'],
  ['a control character', 'a\u0000'],
  ['a line break at the end', 'a\n'],
  ['a character beyond ASCII', 'caf\u00e9'],
  ['a separator', 'a,b'],
])('a name with %s is malformed', (_, name) => {
  expect(kindOfName(name)).toBe(FIELD.malformed)
})

test.each(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'])(
  '%s is a connection-specific field of HTTP/1 and is malformed',
  (name) => {
    expect(classify(name, 'x')).toBe(FIELD.malformed)
  },
)

test.each([
  ['NUL', 'a\0b'],
  ['a carriage return', 'a\rb'],
  ['a line feed', 'a\nb'],
  ['a line feed at the end', 'a\n'],
  ['a leading space', ' a'],
  ['a trailing space', 'a '],
  ['a leading tab', '\ta'],
  ['a trailing tab', 'a\t'],
  ['nothing but a space', ' '],
])('a value with %s is malformed under every name', (_, value) => {
  for (const name of ['x', ':path', 'grpc-timeout']) expect(classify(name, value)).toBe(FIELD.malformed)
})

test.each(['gzip', 'trailers, deflate', 'Trailers', ''])('te: %s is malformed', (value) => {
  expect(classify('te', value)).toBe(FIELD.malformed)
})

test.each(['', '-1', '+1', '1.0', '0x10', '1,1', '\u0661'])('content-length: %s is malformed', (value) => {
  expect(classify('content-length', value)).toBe(FIELD.malformed)
})
