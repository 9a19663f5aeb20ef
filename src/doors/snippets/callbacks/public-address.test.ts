import { expect, test } from 'vitest'
import { callbackProblem, isPublicAddress } from './public-address.ts'

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
])('%j is not', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  ['https://example.com/hook', undefined],
  ['http://8.8.8.8:8080/hook?a=b', undefined],
  ['ftp://example.com/', 'https'],
  ['file:///etc/passwd', 'https'],
  ['https://user:secret@example.com/', 'password'],
  ['example.com/hook', 'URL'],
  ['http://localhost/', 'this machine'],
  ['http://a.localhost./', 'this machine'],
  ['http://127.0.0.1/', 'public'],
  ['http://127.1/', 'public'],
  ['http://2130706433/', 'public'],
  ['http://0x7f000001/', 'public'],
  ['http://0177.0.0.1/', 'public'],
  ['http://[::1]/', 'public'],
  ['http://[::ffff:7f00:1]/', 'public'],
  ['http://169.254.169.254/latest/meta-data', 'public'],
  [`https://example.com/${'x'.repeat(2000)}`, 'longer'],
])('%.50s: %s', (url, problem) => {
  const told = callbackProblem(url, false)
  if (problem === undefined) expect(told).toBeUndefined()
  else expect(told).toContain(problem)
})
