import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestFunctionNumber, digestToProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aDigest,
  aFunction,
  amid,
  anInstance,
  damaged,
  encodedAs,
  judged,
  orRefused,
  orUnread,
  REAPI,
  someText,
} from '../messages/messages.fixture.ts'
import { readGetActionResultRequest, readUpdateActionResultRequest } from './action-cache.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const anAction = aFunction.chain((fn) => aDigest(fn))

describe('GetActionResultRequest', () => {
  const aRequest = fc.record({
    instance: anInstance,
    actionDigest: anAction,
    inlineStdout: fc.boolean(),
    inlineStderr: fc.boolean(),
    inlineOutputFiles: fc.array(someText, { maxLength: 3 }),
  })
  type Sent = typeof aRequest extends fc.Arbitrary<infer T> ? T : never
  const encoded = ({ instance, actionDigest, ...rest }: Sent): Uint8Array =>
    proto.GetActionResultRequest.encode({
      instanceName: instance,
      actionDigest: digestToProto(actionDigest),
      digestFunction: digestFunctionNumber(actionDigest.fn),
      ...rest,
    }).finish()

  test('round-trips', () => {
    fc.assert(
      fc.property(aRequest, (sent) => {
        expect(readGetActionResultRequest(amid(encoded(sent)))).toEqual(sent)
      }),
    )
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(aRequest.map(encoded)), (bytes) => {
        const read = orRefused(() => readGetActionResultRequest(amid(bytes)))
        if (read === undefined) return
        const { instance, actionDigest, ...rest } = read
        expect(judged(`${REAPI}.GetActionResultRequest`, bytes)).toMatchObject({
          instanceName: instance,
          actionDigest: { hash: actionDigest.hash, sizeBytes: BigInt(actionDigest.size) },
          ...rest,
        })
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test('without a digest, or with a hash that does not fit its function, is refused', () => {
    expect(() => readGetActionResultRequest(new Uint8Array())).toThrow('a digest has no hash')
    const wrong = encodedAs(proto.GetActionResultRequest, { actionDigest: { hash: HASH }, digestFunction: 2 })
    expect(() => readGetActionResultRequest(wrong)).toThrow('of sha1')
    const upper = encodedAs(proto.GetActionResultRequest, { actionDigest: { hash: HASH.toUpperCase() } })
    expect(() => readGetActionResultRequest(upper)).toThrow('lower-case')
  })
})

describe('UpdateActionResultRequest', () => {
  const actionDigest = { hash: HASH, sizeBytes: 7 }
  const encoded = (request: proto.DeepPartial<proto.UpdateActionResultRequest>): Uint8Array =>
    encodedAs(proto.UpdateActionResultRequest, request)

  test('keeps the bytes of the result unchanged', () => {
    const actionResult = { exitCode: 3, stdoutRaw: Buffer.from('out') }
    const bytes = encoded({ instanceName: 'a/b', actionDigest, actionResult, resultsCachePolicy: { priority: -4 } })
    const read = readUpdateActionResultRequest(amid(bytes))
    expect(read).toMatchObject({ instance: 'a/b', actionDigest: { fn: 'sha256', hash: HASH, size: 7 }, priority: -4 })
    const expected = encodedAs(proto.ActionResult, actionResult)
    expect(Uint8Array.from(read.result)).toEqual(expected)
  })

  test('may have an empty result, but not none', () => {
    expect(readUpdateActionResultRequest(encoded({ actionDigest, actionResult: {} })).result).toHaveLength(0)
    expect(() => readUpdateActionResultRequest(encoded({ actionDigest }))).toThrow('there is no action_result')
  })

  test('merges a result, a digest and a policy that are split over several fields', () => {
    const bytes = Buffer.concat([
      encoded({ actionDigest: { hash: HASH }, actionResult: { exitCode: 3 }, resultsCachePolicy: { priority: 1 } }),
      encoded({ actionDigest: { sizeBytes: 7 }, actionResult: { stdoutRaw: Buffer.from('x') } }),
    ])
    const read = readUpdateActionResultRequest(bytes)
    expect(read).toMatchObject({ actionDigest: { hash: HASH, size: 7 }, priority: 1 })
    expect(judged(`${REAPI}.ActionResult`, read.result)).toMatchObject({ exitCode: 3, stdoutRaw: Uint8Array.of(0x78) })
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    const whole = fc
      .record({ exitCode: fc.integer(), stdoutRaw: fc.uint8Array({ maxLength: 9 }) })
      .map((actionResult) =>
        encoded({
          instanceName: 'x',
          actionDigest,
          actionResult,
          resultsCachePolicy: { priority: 5 },
          digestFunction: 1,
        }),
      )
    fc.assert(
      fc.property(damaged(whole), (bytes) => {
        const read = orRefused(() => readUpdateActionResultRequest(amid(bytes)))
        if (read === undefined) return
        const theirs = orUnread(`${REAPI}.UpdateActionResultRequest`, bytes)
        if (theirs === undefined) return // errors within the result are found later, when the result is read
        expect(theirs).toMatchObject({
          instanceName: read.instance,
          actionDigest: { hash: read.actionDigest.hash, sizeBytes: BigInt(read.actionDigest.size) },
          actionResult: judged(`${REAPI}.ActionResult`, read.result),
        })
      }),
      { numRuns: ACCIDENTS },
    )
  })
})
