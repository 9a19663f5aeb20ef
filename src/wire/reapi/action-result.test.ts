import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ActionResult } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ACCIDENTS, aFunction, damaged, encodedAs, judged, orRefused, REAPI } from '../messages/messages.fixture.ts'
import { anActionResult } from './action-result.fixture.ts'
import { actionResultFromProto, actionResultToProto } from './action-result.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const digest = { hash: HASH, sizeBytes: 3 }

test('an ActionResult round-trips', () => {
  const both = aFunction.chain((fn) => anActionResult(fn).map((result) => ({ fn, result })))
  fc.assert(
    fc.property(both, ({ fn, result }) => {
      expect(actionResultFromProto(actionResultToProto(result), fn)).toEqual(result)
    }),
  )
})

test('a damaged ActionResult is refused, or another parser reads it too', () => {
  fc.assert(
    fc.property(damaged(anActionResult('sha256').map(actionResultToProto)), (bytes) => {
      const read = orRefused(() => actionResultFromProto(bytes, 'sha256'))
      if (read !== undefined) expect(judged(`${REAPI}.ActionResult`, bytes)).toMatchObject({ exitCode: read.exitCode })
    }),
    { numRuns: ACCIDENTS },
  )
})

test.each<[string, Parameters<typeof encodedAs<ActionResult>>[1], string]>([
  ['an output without a digest', { outputFiles: [{ path: 'a' }] }, 'the output a has no digest'],
  ['an absolute path', { outputFiles: [{ path: '/a', digest }] }, 'the output path "/a" is absolute'],
  ['a directory without a digest', { outputDirectories: [{ path: 'd' }] }, 'an output directory has no digest'],
  ['a digest of another function', { stdoutDigest: { hash: 'abcd', sizeBytes: 1 } }, 'not a sha256 hash'],
  ['a negative size', { stdoutDigest: { hash: HASH, sizeBytes: -1 } }, '-1 is not the size of a blob'],
  ['impossible nanos', { executionMetadata: { queuedTimestamp: { nanos: -1 } } }, 'a timestamp has -1 nanos'],
  ['an impossible year', { executionMetadata: { queuedTimestamp: { seconds: 1e12 } } }, 'a timestamp has'],
])('an ActionResult with %s is refused', (_, result, message) => {
  expect(() => actionResultFromProto(encodedAs(ActionResult, result), 'sha256')).toThrow(message)
})

test('an empty digest message reads as no digest', () => {
  const bytes = encodedAs(ActionResult, { stdoutDigest: {} })
  expect(actionResultFromProto(bytes, 'sha256').stdout).toEqual({ digest: undefined, raw: undefined })
})
