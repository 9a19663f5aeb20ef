import { expect, test } from 'vitest'
import {
  healthListFromProto,
  healthListToProto,
  healthRequestFromProto,
  healthRequestToProto,
  type Serving,
  servingFromProto,
  servingToProto,
} from './health.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('a health request names a service, and an empty message means the whole server', () => {
  expect(healthRequestFromProto(healthRequestToProto('a.B'))).toBe('a.B')
  expect(hex(healthRequestToProto('a.B'))).toBe('0a03612e42')
  expect(hex(healthRequestToProto(''))).toBe('')
})

test.each<[Serving, string]>([
  ['serving', '0801'],
  ['notServing', '0802'],
  ['unknown', '0803'],
])('%s is encoded as %s', (serving, bytes) => {
  expect(hex(servingToProto(serving))).toBe(bytes)
  expect(servingFromProto(Buffer.from(bytes, 'hex'))).toBe(serving)
})

test('an unknown or absent health state reads as unknown', () => {
  expect(servingFromProto(Buffer.from('0863', 'hex'))).toBe('unknown')
  expect(servingFromProto(new Uint8Array())).toBe('unknown')
})

test('a health list round-trips', () => {
  const list = new Map<string, Serving>([
    ['', 'notServing'],
    ['a.B', 'serving'],
  ])
  expect(healthListFromProto(healthListToProto(list))).toEqual(list)
})
