import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ActionResult } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aFunction,
  amid,
  damaged,
  digestsIn,
  encodedAs,
  orRefused,
  orUnread,
  REAPI,
} from '../messages/messages.fixture.ts'
import { anActionResult } from '../reapi/action-result.fixture.ts'
import { actionResultFromProto, actionResultToProto } from '../reapi/action-result.ts'
import { viewActionResult, withWorker } from './action-result.ts'

const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const aResult = aFunction.chain((fn) => anActionResult(fn).map((result) => ({ fn, result })))

describe('viewActionResult', () => {
  test('finds every digest in the result', () => {
    fc.assert(
      fc.property(aResult, ({ fn, result }) => {
        const view = viewActionResult(amid(actionResultToProto(result)), fn)
        const { outputFiles, outputDirectories, stdout, stderr } = result
        const streams = [stdout.digest, stderr.digest].filter((digest) => digest !== undefined)
        expect(digestsIn(view.files)).toEqual([...outputFiles.map(({ digest }) => digest), ...streams])
        expect(digestsIn(view.trees)).toEqual(outputDirectories.flatMap(({ treeDigest }) => treeDigest ?? []))
        expect(digestsIn(view.directories)).toEqual(outputDirectories.flatMap(({ rootDigest }) => rootDigest ?? []))
        expect(view).toMatchObject({ fn, exitCode: result.exitCode, hasWorker: (result.metadata?.worker ?? '') !== '' })
      }),
    )
  })

  test('on damaged bytes refuses them, or finds the same as another parser', () => {
    fc.assert(
      fc.property(damaged(anActionResult('sha256').map(actionResultToProto)), (bytes) => {
        const view = orRefused(() => viewActionResult(amid(bytes), 'sha256'))
        if (view === undefined) return
        const theirs = orUnread(`${REAPI}.ActionResult`, bytes)
        if (theirs === undefined) return // malformed in a part that we do not read, such as node properties
        expect(theirs.exitCode).toBe(view.exitCode)
        const { outputFiles } = theirs as unknown as { outputFiles: { digest: { hash: string; sizeBytes: bigint } }[] }
        const files = digestsIn(view.files).map(({ hash, size }) => ({ hash, sizeBytes: BigInt(size) }))
        expect(outputFiles.map(({ digest: { hash, sizeBytes } }) => ({ hash, sizeBytes }))).toEqual(
          files.slice(0, outputFiles.length),
        )
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test.each<[string, Parameters<typeof encodedAs<ActionResult>>[1], string]>([
    ['an output without a digest', { outputFiles: [{ path: 'a' }] }, 'a digest has no hash'],
    ['an output directory without one', { outputDirectories: [{ path: 'a' }] }, 'an output directory has no digest'],
    [
      'a digest of another function',
      { stdoutDigest: { hash: 'ab'.repeat(20) } },
      'a hash has 40 digits, but the others have 64',
    ],
    ['an upper-case hash', { stderrDigest: { hash: HASH.toUpperCase() } }, 'not lower-case hex'],
  ])('refuses %s', (_, result, message) => {
    expect(() => viewActionResult(encodedAs(ActionResult, result), 'sha256')).toThrow(message)
  })
})

describe('withWorker', () => {
  test('adds the worker if the result has none, and changes nothing else', () => {
    fc.assert(
      fc.property(aResult, ({ fn, result }) => {
        const view = viewActionResult(amid(actionResultToProto(result)), fn)
        const read = actionResultFromProto(Uint8Array.from(withWorker(view, 'w-1')), fn)
        const { metadata } = result
        const before = metadata ?? { worker: '', times: {}, virtualDurationMs: undefined, auxiliary: [] }
        expect(read).toEqual({ ...result, metadata: { ...before, worker: before.worker || 'w-1' } })
      }),
    )
  })

  test('keeps unknown fields', () => {
    const unknown = Buffer.from('fa0703616263', 'hex')
    const bytes = Buffer.concat([unknown, encodedAs(ActionResult, { executionMetadata: {}, exitCode: 1 }), unknown])
    const added = Buffer.from(withWorker(viewActionResult(bytes, 'sha256'), 'w'))
    expect(added.toString('hex')).toBe(`${unknown.toString('hex')}20014a030a0177${unknown.toString('hex')}`)
  })

  test('makes a message of an empty result', () => {
    const view = viewActionResult(new Uint8Array(), 'sha256')
    expect(Buffer.from(withWorker(view, 'w')).toString('hex')).toBe('4a030a0177')
  })

  test('returns a result that names its worker unchanged', () => {
    const bytes = encodedAs(ActionResult, { executionMetadata: { worker: 'theirs' } })
    expect(withWorker(viewActionResult(bytes, 'sha256'), 'ours')).toBe(bytes)
  })
})
