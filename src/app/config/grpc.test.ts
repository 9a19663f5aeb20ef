import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../grpc/http2/limits.ts'
import { grpc, grpcLimits } from './grpc.ts'

test("an empty [grpc] table gives the engine's own limits", () => {
  expect(grpcLimits(grpc.parse({}))).toEqual(DEFAULT_LIMITS)
})

test('seconds are converted to milliseconds, and bytes are kept', () => {
  const limits = grpcLimits(grpc.parse({ keepalive_seconds: 1.5, max_message_bytes: 4096 }))
  expect(limits).toMatchObject({ keepaliveMs: 1500, maxMessageBytes: 4096 })
})

test('a rate above the burst raises the burst', () => {
  expect(grpcLimits(grpc.parse({ max_resets_per_second: 9000 })).resets).toEqual({ burst: 9000, perSecond: 9000 })
})
