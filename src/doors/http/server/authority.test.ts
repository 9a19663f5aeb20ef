import { describe, expect, test } from 'vitest'
import { configuredAuthority, isLoopback, parseAuthority } from './browser-rules.ts'

describe('authority', () => {
  test.each([
    ['localhost', { name: 'localhost', port: undefined }],
    ['LocalHost:8080', { name: 'localhost', port: 8080 }],
    ['127.0.0.1:80', { name: '127.0.0.1', port: 80 }],
    ['[::1]:8080', { name: '::1', port: 8080 }],
    ['[0:0:0:0:0:0:0:1]', { name: '0:0:0:0:0:0:0:1', port: undefined }],
    ['build_farm-1.example.com', { name: 'build_farm-1.example.com', port: undefined }],
  ])('%s is parsed as a name and a port', (text, expected) => {
    expect(parseAuthority(text)).toEqual(expected)
  })

  test.each([
    '',
    'localhost:',
    'localhost:65536',
    'localhost:8080@evil.com',
    'user@localhost',
    'localhost, evil.com',
    'localhost evil.com',
    'localhost/evil',
    'localhost#',
    'localhost%2eevil.com',
    '::1',
    '[::1',
    '[::1%25eth0]',
    '[fe80::1%eth0]:80',
    '[localhost]',
    '[::1]evil.com',
    'löcalhost',
    'http://localhost',
  ])('"%s" is refused', (text) => {
    expect(parseAuthority(text)).toBeUndefined()
  })
})

test.each(['localhost', '127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'])('%s is loopback', (name) => {
  expect(isLoopback(name)).toBe(true)
})

test.each([
  'localhost.',
  'localhost.evil.com',
  'evil.localhost',
  '127.0.0.1.evil.com',
  '127.0.0.1.',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '0177.0.0.1',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
])('%s is not loopback', (name) => {
  expect(isLoopback(name)).toBe(false)
})

test('a configured host may be an IPv6 address without brackets', () => {
  expect(configuredAuthority('fd00::7')).toEqual({ name: 'fd00::7', port: undefined })
})

test('a configured host that can never match throws, with the name of its setting', () => {
  expect(() => configuredAuthority('https://grid.example.com')).toThrow(/http\.allowed_hosts/)
})
