import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { networkOf } from './callers.ts'
import { requestRules } from './request-rules.ts'
import { proxyList } from './trusted-proxies.ts'

async function seen(remoteAddress: string | undefined, said: string | undefined, proxies: readonly string[] = []) {
  const app = new Hono()
  app.use(requestRules({ trustedProxies: proxies, allowedHosts: [], allowedOrigins: [], log: silentLog }))
  app.get('/', (c) => c.text(c.get('callerAddress')))
  const headers = { host: 'localhost', ...(said !== undefined && { 'x-forwarded-for': said }) }
  return (await app.request('/', { headers }, { incoming: { socket: { remoteAddress } } })).text()
}

describe('caller address', () => {
  test('the caller is the peer of the connection, whatever X-Forwarded-For claims', async () => {
    expect(await seen('203.0.113.5', undefined)).toBe('203.0.113.5')
    expect(await seen('203.0.113.5', '198.51.100.1')).toBe('203.0.113.5')
    expect(await seen('::ffff:203.0.113.5', undefined)).toBe('203.0.113.5')
    expect(await seen(undefined, '198.51.100.1')).toBe('unix')
  })

  test('behind trusted proxies the caller is the last forwarded address that is no proxy', async () => {
    const proxies = ['10.0.0.0/8', 'fd00::/16', 'unix']
    expect(await seen('10.1.2.3', '198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('::ffff:10.1.2.3', '198.51.100.1, 10.9.9.9', proxies)).toBe('198.51.100.1')
    expect(await seen('fd00::1', '2001:db8::7', proxies)).toBe('2001:db8::7')
    expect(await seen(undefined, '198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('203.0.113.5', '198.51.100.1', proxies)).toBe('203.0.113.5')
  })

  test('a client behind a proxy cannot forge another address', async () => {
    const proxies = ['10.0.0.0/8']
    expect(await seen('10.1.2.3', '127.0.0.1, 10.0.0.1, 198.51.100.1', proxies)).toBe('198.51.100.1')
    expect(await seen('10.1.2.3', '198.51.100.1, nonsense', proxies)).toBe('10.1.2.3')
    expect(await seen('10.1.2.3', 'nonsense, 10.0.0.7', proxies)).toBe('10.0.0.7')
    expect(await seen('10.1.2.3', '', proxies)).toBe('10.1.2.3')
  })
})

test.each(['10.0.0.0/33', 'proxy.example.com', '10.0.0.0/8/8', '', '::1/129', '10.0.0.0/'])(
  '"%s" is refused as a trusted proxy',
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
])('the rate limit of %s applies to %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
