import { expect, test } from 'vitest'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { judged } from '../messages/messages.fixture.ts'
import { actionFieldsToProto, commandFieldsToProto } from './action-fields.ts'

const V2 = 'build.bazel.remote.execution.v2'
const commandDigest = digestOf('sha256', Buffer.from('command'))
const inputRootDigest = digestOf('sha256', new Uint8Array())
const platform = [
  { name: 'b', value: '2' },
  { name: 'b', value: '1' },
  { name: 'a', value: 'z' },
]

test('commandFieldsToProto sorts variables, outputs and properties as REAPI requires', () => {
  const order = {
    argv: ['b', 'a', ''],
    env: [
      { name: 'Z', value: '1' },
      { name: 'A', value: '' },
    ],
    outputPaths: ['y', '', 'x'],
    platform,
  }
  const bytes = commandFieldsToProto(order)
  expect(judged(`${V2}.Command`, bytes)).toMatchObject({
    arguments: ['b', 'a', ''],
    environmentVariables: [
      { name: 'A', value: '' },
      { name: 'Z', value: '1' },
    ],
    outputPaths: ['', 'x', 'y'],
    platform: { properties: [{ name: 'a' }, { name: 'b', value: '1' }, { name: 'b', value: '2' }] },
  })
  const turned = { ...order, env: order.env.toReversed(), outputPaths: ['x', 'y', ''], platform: platform.toReversed() }
  expect(commandFieldsToProto(turned)).toEqual(bytes)
})

test('actionFieldsToProto writes the digests, timeout, platform and do_not_cache', () => {
  const order = { commandDigest, inputRootDigest, timeoutMs: 1500, doNotCache: true, platform }
  expect(judged(`${V2}.Action`, actionFieldsToProto(order))).toMatchObject({
    commandDigest: { hash: commandDigest.hash, sizeBytes: 7n },
    inputRootDigest: { hash: inputRootDigest.hash },
    timeout: { seconds: 1n, nanos: 500_000_000 },
    doNotCache: true,
    platform: { properties: [{ name: 'a' }, { name: 'b', value: '1' }, { name: 'b', value: '2' }] },
  })
})

test('actionFieldsToProto leaves out an absent timeout and an empty platform', () => {
  const action = actionFieldsToProto({
    ...{ commandDigest, inputRootDigest, timeoutMs: undefined, doNotCache: false, platform: [] },
  })
  const seen = judged(`${V2}.Action`, action)
  expect([seen.timeout, seen.platform, seen.doNotCache]).toEqual([undefined, undefined, false])
})
