import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { callerAddressOf, knowingCallers, networkOf, proxyList } from './caller-address.ts'

async function seen(remoteAddress: string | undefined, said: string | undefined, proxies: readonly string[] = []) {
  const app = new Hono()
  app.use(knowingCallers(proxies))
  app.get('/', (c) => c.text(callerAddressOf(c)))
  const headers = said === undefined ? {} : { 'x-forwarded-for': said }
  return (await app.request('/', { headers }, { incoming: { socket: { remoteAddress } } })).text()
}

describe('a caller', () => {
  test('is who the connection comes from, whatever it says', async () => {
    expect(await seen('203.0.113.5', undefined)).toBe('203.0.113.5')
    expect(await seen('203.0.113.5', '198.51.100.1')).toBe('203.0.113.5')
    expect(await seen('::ffff:203.0.113.5', undefined)).toBe('203.0.113.5')
    expect(await seen(undefined, '198.51.100.1')).toBe('unix')
  })

  test('behind proxies that are trusted is the last that they did not write themselves', async () => {
    const proxies = ['10.0.0.0/8', 'fd00::/16', 'unix']
    expect(await seen('10.1.2.3', '198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('::ffff:10.1.2.3', '198.51.100.1, 10.9.9.9', proxies)).toBe('198.51.100.1')
    expect(await seen('fd00::1', '2001:db8::7', proxies)).toBe('2001:db8::7')
    expect(await seen(undefined, '198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('203.0.113.5', '198.51.100.1', proxies)).toBe('203.0.113.5')
  })

  test('cannot put somebody else in front', async () => {
    const proxies = ['10.0.0.0/8']
    expect(await seen('10.1.2.3', '127.0.0.1, 10.0.0.1, 198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('10.1.2.3', '198.51.100.1, nonsense', proxies)).toBe('10.1.2.3')
    expect(await seen('10.1.2.3', 'nonsense, 10.0.0.7', proxies)).toBe('10.0.0.7')
    expect(await seen('10.1.2.3', '', proxies)).toBe('10.1.2.3')
  })
})

test.each(['10.0.0.0/33', 'proxy.example.com', '10.0.0.0/8/8', '', '::1/129', '10.0.0.0/'])(
  '"%s" is no proxy that could be meant',
  (text) => {
    expect(() => proxyList([text])).toThrow('limits.trusted_proxies')
  },
)

test.each([
  ['203.0.113.5', '203.0.113.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unix', 'unix'],
])('limits for %s hold for %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
