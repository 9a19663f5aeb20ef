import fc from 'fast-check'
import { expect, test } from 'vitest'
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
import { inlineOptionsFromProto, inlineOptionsToProto } from '../tasks/inline-options.ts'
import {
  type ExecuteRequest,
  executeRequestFromProto,
  executeRequestToProto,
  waitExecutionRequestFromProto,
  waitExecutionRequestToProto,
} from './execution-request.ts'

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

test('a request comes back as it went', () => {
  fc.assert(
    fc.property(aRequest, (request) => {
      expect(executeRequestFromProto(executeRequestToProto(request))).toEqual(request)
    }),
  )
})

test('a request that was damaged is refused, or can be read by others', () => {
  fc.assert(
    fc.property(damaged(aRequest.map(executeRequestToProto)), (bytes) => {
      const read = orRefused(() => executeRequestFromProto(bytes))
      if (read !== undefined)
        expect(judged(`${REAPI}.ExecuteRequest`, bytes)).toMatchObject({ instanceName: read.instance })
    }),
    { numRuns: ACCIDENTS },
  )
})

test('a hash without a function is of the one that its instance takes for granted', () => {
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

test('the name that is waited for comes back as it went', () => {
  expect(waitExecutionRequestFromProto(waitExecutionRequestToProto('a/operations/1'))).toBe('a/operations/1')
})

test('what an operation remembers comes back as it went; nothing is nothing', () => {
  fc.assert(
    fc.property(aWish, (wish) => {
      expect(inlineOptionsFromProto(inlineOptionsToProto(wish))).toEqual(wish)
    }),
  )
  expect(inlineOptionsToProto({ inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] })).toBeUndefined()
})

test('wishes for more files than can be remembered are let go', () => {
  const inlineOutputFiles = Array.from({ length: 1000 }, (_, index) => `${'x'.repeat(100)}${index}`)
  const wish = { inlineStdout: true, inlineStderr: false, inlineOutputFiles }
  expect(inlineOptionsFromProto(inlineOptionsToProto(wish))).toEqual({ ...wish, inlineOutputFiles: [] })
})
