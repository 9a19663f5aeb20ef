import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ActionResult } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { aFunction, amid, digestsIn, encodedAs } from '../messages/messages.fixture.ts'
import { anActionResult } from '../reapi/action-result.fixture.ts'
import { actionResultFromProto, actionResultToProto } from '../reapi/action-result.ts'
import { viewActionResult } from './action-result.ts'
import { inlineRequested, withInlined } from './inline-outputs.ts'

const digest = (digit: string, size: number) => ({ hash: digit.repeat(64), sizeBytes: size })
const everything = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ['a', 'b', 'c'] }
const nothing = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] }

const result = encodedAs(ActionResult, {
  outputFiles: [
    { path: 'a', digest: digest('a', 1) },
    { path: 'b', digest: digest('b', 300), isExecutable: true },
    { path: 'unasked', digest: digest('d', 4) },
    { path: 'c', digest: digest('c', 3), contents: Buffer.from('had') },
  ],
  stdoutDigest: digest('1', 5),
  stderrDigest: digest('2', 0),
  exitCode: 1,
})
const view = viewActionResult(amid(result), 'sha256')
const sizes = (wish: typeof everything, maxBytes = 1e6) =>
  digestsIn(inlineRequested(view, wish, maxBytes).digests).map(({ size }) => size)

test('inlineRequested selects only requested, absent and non-empty contents, streams first', () => {
  expect(sizes(everything)).toEqual([5, 1, 300])
  expect(sizes({ ...everything, inlineStdout: false })).toEqual([1, 300])
  expect(sizes({ ...nothing, inlineOutputFiles: ['b', 'nowhere'] })).toEqual([300])
  expect(sizes(nothing)).toEqual([])
})

test('inlineRequested skips contents that would exceed the limit, and still selects smaller ones', () => {
  expect(sizes(everything, result.length)).toEqual([])
  expect(sizes(everything, result.length + 100)).toEqual([5, 1])
  expect(sizes({ ...nothing, inlineOutputFiles: ['b', 'a'] }, result.length + 50)).toEqual([1])
})

test('withInlined inserts the selected contents and keeps the digests', () => {
  const wanted = inlineRequested(view, everything, 1e6)
  const blobs = digestsIn(wanted.digests).map(({ size }) => Buffer.alloc(size, 'x'))
  const bytes = withInlined(view, wanted, blobs)
  const before = actionResultFromProto(result, 'sha256')
  const read = actionResultFromProto(Uint8Array.from(bytes), 'sha256')
  expect(read.outputFiles.map(({ contents }) => contents?.length)).toEqual([1, 300, undefined, 3])
  expect(read.stdout.raw).toEqual(new Uint8Array(5).fill(0x78))
  expect({ ...read, stdout: { ...read.stdout, raw: undefined }, outputFiles: [] }).toEqual({
    ...before,
    outputFiles: [],
  })
  expect(read.outputFiles.map(({ path, digest }) => [path, digest])).toEqual(
    before.outputFiles.map(({ path, digest }) => [path, digest]),
  )
})

test('withInlined leaves out a blob that is no longer present', () => {
  const wanted = inlineRequested(view, everything, 1e6)
  const bytes = withInlined(view, wanted, [undefined, Buffer.from('x'), undefined])
  const read = actionResultFromProto(Uint8Array.from(bytes), 'sha256')
  expect(read.stdout.raw).toBeUndefined()
  expect(read.outputFiles.map(({ contents }) => contents?.length)).toEqual([1, undefined, undefined, 3])
})

test('an inlined result keeps its other fields and stays within the limit', () => {
  const aCase = aFunction.chain((fn) =>
    fc.record({ fn: fc.constant(fn), noun: anActionResult(fn), room: fc.nat(2000) }),
  )
  fc.assert(
    fc.property(aCase, ({ fn, noun, room }) => {
      const small = (size: number) => size % 300
      const shrunk = {
        ...noun,
        outputFiles: noun.outputFiles.map((file) => ({
          ...file,
          digest: { ...file.digest, size: small(file.digest.size) },
        })),
      }
      const before = actionResultToProto(shrunk)
      const some = viewActionResult(before, fn)
      const wish = { ...everything, inlineOutputFiles: shrunk.outputFiles.map(({ path }) => path) }
      const wanted = inlineRequested(some, wish, before.length + room)
      const after = withInlined(
        some,
        wanted,
        digestsIn(wanted.digests).map(({ size }) => Buffer.alloc(size, 'x')),
      )
      expect(after.length).toBeLessThanOrEqual(before.length + room)
      const read = actionResultFromProto(Uint8Array.from(after), fn)
      const bare = (of: typeof read) => ({
        ...of,
        stdout: of.stdout.digest,
        stderr: of.stderr.digest,
        outputFiles: of.outputFiles.map((file) => ({ ...file, contents: undefined })),
      })
      expect(bare(read)).toEqual(bare(shrunk))
    }),
  )
})
