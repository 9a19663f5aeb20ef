import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StatusDetail } from './status.ts'
import { statusDetails, statusFromProto } from './status.ts'

const EVERY_KIND: readonly StatusDetail[] = [
  { kind: 'RetryInfo', retryDelayMs: 1500 },
  { kind: 'ErrorInfo', reason: 'QUEUE_FULL', domain: 'windlass', metadata: { instance: 'main' } },
  { kind: 'DebugInfo', stackEntries: ['at a', 'at b'], detail: 'while reading' },
  {
    kind: 'PreconditionFailure',
    violations: [{ type: 'MISSING', subject: 'blobs/2c26b46b/3', description: 'not in the CAS' }],
  },
  { kind: 'QuotaFailure', violations: [{ subject: 'instance:main', description: 'too many queued tasks' }] },
  { kind: 'BadRequest', fieldViolations: [{ field: 'action.timeout', description: 'is negative' }] },
  { kind: 'RequestInfo', requestId: 'r-1', servingData: '' },
  { kind: 'ResourceInfo', resourceType: 'blob', resourceName: '2c26b46b/3', owner: '', description: 'gone' },
  { kind: 'Help', links: [{ description: 'limits', url: 'https://example.org/limits' }] },
  { kind: 'LocalizedMessage', locale: 'zh-CN', message: '队列已满' },
  { kind: 'unknown', typeUrl: 'type.example.org/some.Other', value: Uint8Array.of(1, 2, 3) },
]

describe('google.rpc.Status', () => {
  test('round-trips with every kind of detail', () => {
    expect(statusFromProto(statusDetails(9, 'missing inputs', EVERY_KIND))).toEqual({
      code: 9,
      message: 'missing inputs',
      details: EVERY_KIND,
    })
  })

  test('encodes a detail as Any with the type.googleapis.com URL', () => {
    const bytes = Buffer.from(statusDetails(8, 'full', [{ kind: 'RetryInfo', retryDelayMs: 20 }]))
    // code 8, message, then one Any: type URL, and RetryInfo { retry_delay { nanos: 20000000 } }
    const any = `${field(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo'))}${field(2, Buffer.from('0a051080dac409', 'hex'))}`
    expect(bytes.toString('hex')).toBe(`0808${field(2, Buffer.from('full'))}${field(3, Buffer.from(any, 'hex'))}`)
  })

  test('finds the type of a detail after any URL prefix', () => {
    const odd = { kind: 'unknown', typeUrl: 'example.org/x/google.rpc.Help', value: new Uint8Array() } as const
    expect(statusFromProto(statusDetails(2, '', [odd])).details).toEqual([{ kind: 'Help', links: [] }])
  })

  test('does not take a property of Object.prototype for a kind of detail', () => {
    const odd = { kind: 'unknown', typeUrl: 'x/google.rpc.toString', value: new Uint8Array() } as const
    expect(statusFromProto(statusDetails(2, '', [odd])).details).toEqual([odd])
  })

  test('keeps a retry delay to the nanosecond, with its sign', () => {
    const delay = fc.integer({ min: -(2 ** 41), max: 2 ** 41 }).map((micros) => micros / 1000)
    fc.assert(
      fc.property(delay, (retryDelayMs) => {
        const [back] = statusFromProto(statusDetails(14, '', [{ kind: 'RetryInfo', retryDelayMs }])).details
        expect(back?.kind === 'RetryInfo' && back.retryDelayMs).toBeCloseTo(retryDelayMs, 6)
      }),
    )
  })
})

const field = (number: number, bytes: Buffer): string =>
  Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]).toString('hex')
