import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ActionResult } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ACCIDENTS, damaged, encodedAs, orRefused } from '../messages/messages.fixture.ts'
import { anActionResult } from '../reapi/action-result.fixture.ts'
import { actionResultFromProto, actionResultToProto } from '../reapi/action-result.ts'
import { checkReported } from './output-check.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const digest = { hash: HASH, sizeBytes: 3 }
const foo = { fn: 'sha256', hash: HASH, size: 3 }

test('a reported result has its exit code and the digests that it names', () => {
  const bytes = encodedAs(ActionResult, {
    exitCode: -3,
    outputFiles: [{ path: 'a', digest }],
    outputDirectories: [{ path: 'd', treeDigest: digest, rootDirectoryDigest: digest }],
    stderrDigest: digest,
    executionMetadata: { worker: 'w1', queuedTimestamp: { seconds: -1, nanos: 5 } },
  })
  expect(checkReported(bytes, 'sha256')).toEqual({
    exitCode: -3,
    named: [foo, foo, foo, foo],
    climbs: 0,
    inlined: [],
    directories: [{ tree: foo, root: foo, isSorted: false }],
  })
})

test.each<[string, Parameters<typeof encodedAs<ActionResult>>[1], string]>([
  ['an output file without a digest', { outputFiles: [{ path: 'a' }] }, 'the output a has no digest'],
  ['a directory without a digest', { outputDirectories: [{ path: 'd' }] }, 'an output directory has no digest'],
  ['a hash of another digest function', { stdoutDigest: { hash: 'abcd', sizeBytes: 1 } }, 'a hash of sha256 has 64'],
  ['a negative size', { stdoutDigest: { hash: HASH, sizeBytes: -1 } }, 'the size of a digest is negative'],
  ['a path that comes twice', { outputFiles: [{ path: 'a', digest }, { path: './a', digest }] }, 'comes twice'], // biome-ignore format: one case per line
  ['negative nanos', { executionMetadata: { queuedTimestamp: { nanos: -1 } } }, 'a timestamp has -1 nanos'],
  ['a year after 9999', { executionMetadata: { queuedTimestamp: { seconds: 1e12 } } }, 'a timestamp has 1000000000000'],
  ['a year before 1', { executionMetadata: { queuedTimestamp: { seconds: -1e12 } } }, 'a timestamp has -1000000000000'],
])('a reported result with %s is refused', (_, result, message) => {
  expect(() => checkReported(encodedAs(ActionResult, result), 'sha256')).toThrow(message)
})

test('a reported result that passes the check can be decoded', () => {
  fc.assert(
    fc.property(damaged(anActionResult('sha256').map(actionResultToProto)), (bytes) => {
      const checked = orRefused(() => checkReported(bytes, 'sha256'))
      if (checked !== undefined) expect(actionResultFromProto(bytes, 'sha256').exitCode).toBe(checked.exitCode)
    }),
    { numRuns: ACCIDENTS },
  )
})
