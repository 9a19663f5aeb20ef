import { expect, test } from 'vitest'
import { addressRules, isPublicAddress, reachProblem } from './address-rules.ts'

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.each([
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
  ...['::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '2001::1', '2001:db8::1', '2002:7f00:1::', 'fc00::1'],
  ...['fd12:3456::1', 'fe80::1', 'fec0::1', 'ff02::1', 'localhost', ''],
])('%j is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test("mayReach allows public and listed addresses, and the machine's own addresses only when listed exactly", () => {
  const own = () => ['8.8.4.4', '10.1.0.5', 'fd00::5']
  const rules = (...reach: string[]) => addressRules({ reach, own })
  expect(rules().mayReach('8.8.8.8')).toBe(true)
  expect(rules().mayReach('8.8.4.4')).toBe(false)
  expect(rules().mayReach('10.1.0.6')).toBe(false)
  expect(rules('10.1.0.0/16').mayReach('10.1.0.6')).toBe(true)
  expect(rules('10.1.0.0/16').mayReach('10.2.0.6')).toBe(false)
  expect(rules('10.1.0.0/16').mayReach('10.1.0.5')).toBe(false)
  expect(rules('10.1.0.5').mayReach('10.1.0.5')).toBe(true)
  expect(rules('fd00::/8').mayReach('fd00::6')).toBe(true)
  expect(rules('Mirror.internal').mayReach('10.9.9.9', 'mirror.internal')).toBe(true)
  expect(rules('mirror.internal').mayReach('10.9.9.9', 'other.internal')).toBe(false)
  expect(rules('mirror.internal').mayReach('10.9.9.9')).toBe(false)
})

test.each(['10.1.2.3', '10.0.0.0/8', 'fd00::/8', 'mirror.internal', 'mirror'])('reachProblem accepts %s', (text) => {
  expect(reachProblem(text)).toBeUndefined()
})

test.each(['10.0.0.0/33', '10.0.0', '300.1.1.1', 'http://mirror', '', 'a b', '10.0.0.0/8/8', 'fe80::1%eth0'])(
  'reachProblem refuses %j',
  (text) => {
    expect(reachProblem(text)).toBeDefined()
  },
)
