import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inlineOptionsFromProto, inlineOptionsToProto } from '../hot/inline-outputs.ts'
import {
  ACCIDENTS,
  aDigest,
  aFunction,
  anInstance,
  damaged,
  judged,
  orRefused,
  REAPI,
  someText,
} from '../messages/messages.fixture.ts'
import {
  type ExecuteRequest,
  executeRequestFromProto,
  executeRequestToProto,
  waitExecutionRequestFromProto,
  waitExecutionRequestToProto,
} from './execution.ts'

const aWish = fc.record({
  inlineStdout: fc.boolean(),
  inlineStderr: fc.boolean(),
  inlineOutputFiles: fc.array(someText, { maxLength: 3 }),
})
const anInt32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const aRequest: fc.Arbitrary<ExecuteRequest> = fc.record({
  instance: anInstance,
  actionDigest: aFunction.chain(aDigest),
  skipCacheLookup: fc.boolean(),
  priority: anInt32,
  cachePriority: anInt32,
  inline: aWish,
})

test('an ExecuteRequest round-trips', () => {
  fc.assert(
    fc.property(aRequest, (request) => {
      expect(executeRequestFromProto(executeRequestToProto(request))).toEqual(request)
    }),
  )
})

test('a damaged ExecuteRequest is refused, or another parser reads it too', () => {
  fc.assert(
    fc.property(damaged(aRequest.map(executeRequestToProto)), (bytes) => {
      const read = orRefused(() => executeRequestFromProto(bytes))
      if (read !== undefined)
        expect(judged(`${REAPI}.ExecuteRequest`, bytes)).toMatchObject({ instanceName: read.instance })
    }),
    { numRuns: ACCIDENTS },
  )
})

test('a digest without a function gets the default function of its instance', () => {
  const bytes = executeRequestToProto({
    instance: 'b3',
    actionDigest: { fn: 'sha256', hash: 'ab'.repeat(32), size: 1 },
    skipCacheLookup: false,
    priority: 0,
    cachePriority: 0,
    inline: { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] },
  })
  const unnamed = Buffer.from(bytes.filter((_, at) => at < bytes.indexOf(0x48) || at > bytes.indexOf(0x48) + 1))
  expect(executeRequestFromProto(unnamed, () => 'blake3').actionDigest.fn).toBe('blake3')
  expect(executeRequestFromProto(unnamed).actionDigest.fn).toBe('sha256')
})

test('a WaitExecutionRequest round-trips', () => {
  expect(waitExecutionRequestFromProto(waitExecutionRequestToProto('a/operations/1'))).toBe('a/operations/1')
})

test('inline options round-trip, and options with nothing set encode as undefined', () => {
  fc.assert(
    fc.property(aWish, (wish) => {
      expect(inlineOptionsFromProto(inlineOptionsToProto(wish))).toEqual(wish)
    }),
  )
  expect(inlineOptionsToProto({ inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] })).toBeUndefined()
})

test('inline options drop their output files when these exceed the size limit', () => {
  const inlineOutputFiles = Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(100)}${index}`)
  const wish = { inlineStdout: true, inlineStderr: false, inlineOutputFiles }
  expect(inlineOptionsFromProto(inlineOptionsToProto(wish))).toEqual({ ...wish, inlineOutputFiles: [] })
})
