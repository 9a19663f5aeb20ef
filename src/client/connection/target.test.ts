import { expect, test } from 'vitest'
import { parseTarget } from './target.ts'

test.each([
  ['grpc://127.0.0.1:8980', { host: '127.0.0.1', port: 8980 }, false],
  ['grpcs://cache.example.com', { host: 'cache.example.com', port: 443 }, true],
  ['grpcs://cache.example.com:8443/', { host: 'cache.example.com', port: 8443 }, true],
  ['grpc://[::1]:8980', { host: '::1', port: 8980 }, false],
  ['localhost:8980', { host: 'localhost', port: 8980 }, false],
  ['unix:/run/cache.sock', { path: '/run/cache.sock' }, false],
  ['unix:///run/cache.sock', { path: '/run/cache.sock' }, false],
])('target %s is parsed', (text, address, secure) => {
  expect(parseTarget(text)).toEqual({ text, address, secure })
})

test('an HTTP address is a target whose gRPC port must be discovered', () => {
  const address = { host: 'grid', port: 443 }
  expect(parseTarget('https://grid')).toEqual({ text: 'https://grid', address, secure: true, byHttp: true })
})

test.each(['', 'ftp://localhost:1', 'grpc://', 'grpc://host:1/path', 'grpc://host:99999'])(
  '%j is not a valid target',
  (text) => {
    expect(parseTarget(text)).toBeUndefined()
  },
)
