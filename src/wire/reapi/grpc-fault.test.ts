import { expect, test } from 'vitest'
import { type Fault, FaultError } from '../../base/fault.ts'
import { statusFromProto } from '../google/status.ts'
import { faultStatus, faultStatusToProto } from './grpc-fault.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const what = 'in our words'

test.each<[Fault, number]>([
  [{ kind: 'cancelled', what }, 1],
  [{ kind: 'invalid', what }, 3],
  [{ kind: 'late', what }, 4],
  [{ kind: 'absent', what }, 5],
  [{ kind: 'invalid', what, why: 'exists' }, 6],
  [{ kind: 'denied', what }, 7],
  [{ kind: 'invalid', what, why: 'range' }, 11],
  [{ kind: 'invalid', what, why: 'unsupported' }, 12],
  [{ kind: 'bug', what }, 13],
  [{ kind: 'unavailable', what }, 14],
  [{ kind: 'bug', what, why: 'data-loss' }, 15],
  [{ kind: 'denied', what, why: 'unknown-caller' }, 16],
])('%j maps to gRPC code %d without details', (fault, code) => {
  const error = new FaultError(fault)
  expect(faultStatus(error)).toEqual({ code, message: what })
  expect(statusFromProto(faultStatusToProto(error))).toEqual({ code, message: what, details: [] })
})

test('missing blobs are all named in one PreconditionFailure with FAILED_PRECONDITION, without an instance', () => {
  const sha256 = { fn: 'sha256', hash: HASH, size: 3 } as const
  const error = new FaultError({ kind: 'missing', digests: [sha256, { ...sha256, fn: 'blake3', size: 0 }] })
  const { code, message, details } = faultStatus(error)
  const violations = [`blobs/${HASH}/3`, `blobs/blake3/${HASH}/0`].map((subject) => ({
    type: 'MISSING',
    subject,
    description: '',
  }))
  const report = { code: 9, message, details: [{ kind: 'PreconditionFailure', violations }] }
  expect(code).toBe(9)
  expect(statusFromProto(details as Uint8Array)).toEqual(report)
  expect(statusFromProto(faultStatusToProto(error))).toEqual(report)
})

test('an exhausted fault maps to RESOURCE_EXHAUSTED with RetryInfo', () => {
  const { code, details } = faultStatus(
    new FaultError({ kind: 'exhausted', resource: 'the queue', retryAfterMs: 1500 }),
  )
  expect(code).toBe(8)
  expect(statusFromProto(details as Uint8Array)).toMatchObject({
    code: 8,
    details: [{ kind: 'RetryInfo', retryDelayMs: 1500 }],
  })
})
