import { describe, expect, test } from 'vitest'
import { formatAddress, isLocal, parseAddress } from './bind-address.ts'

describe('parseAddress', () => {
  test.each([
    ['127.0.0.1:8980', { host: '127.0.0.1', port: 8980 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:65535', { host: '::1', port: 65535 }],
    ['unix:/run/windlass.sock', { path: '/run/windlass.sock' }],
  ])('%s is parsed, and formatted back', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
    expect(formatAddress(address)).toBe(text)
  })

  test.each([
    '',
    '8980',
    ':8980',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '::1:80',
    '[nonsense]:80',
    'unix:',
    'a b:1',
    'http://a:1',
  ])('"%s" is no address', (text) => expect(parseAddress(text)).toBeUndefined())
})

describe('isLocal', () => {
  test.each(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1', 'localhost:1', 'unix:/a'])('%s is local', (text) => {
    expect(isLocal(parseAddress(text) ?? { host: '', port: 0 })).toBe(true)
  })

  test.each([
    '0.0.0.0:1',
    '[::]:1',
    '10.0.0.1:1',
    'example.com:1',
    '127.0.0.1.example.com:1',
    'localhost.example.com:1',
  ])('%s can be reached from other machines', (text) => expect(isLocal(parseAddress(text) ?? { path: '' })).toBe(false))
})
