import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDigest } from '../../base/digest-text.ts'
import { ACCIDENTS, aDigest, aFunction, damaged, judged, maybe, orRefused } from '../messages/messages.fixture.ts'
import { actionDigestText, actionSpecFromProto, actionSpecToProto } from './task-spec.ts'

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
const aSpec = fc.record({
  actionDigest: aFunction.chain(aDigest),
  inline: maybe(fc.record({ action: someBytes, command: someBytes })),
})

test('an action spec round-trips', () => {
  fc.assert(
    fc.property(aSpec, (spec) => {
      expect(actionSpecFromProto(actionSpecToProto(spec))).toEqual(spec)
    }),
  )
})

test('the digest of an action can be read without the rest of its spec', () => {
  fc.assert(
    fc.property(aSpec, ({ actionDigest, inline }) => {
      const spec = actionSpecToProto({ actionDigest, inline })
      expect(actionDigestText({ origin: 'action', spec })).toBe(formatDigest(actionDigest))
      expect(actionDigestText({ origin: 'snippet', spec })).toBeUndefined()
    }),
  )
})

test('an action and a command of more than 64 KiB together are not inlined', () => {
  const actionDigest = { fn: 'sha256', hash: '0'.repeat(64), size: 7 } as const
  const specWith = (size: number) => {
    const inline = { action: Buffer.alloc(100, 1), command: Buffer.alloc(size, 1) }
    return actionSpecFromProto(actionSpecToProto({ actionDigest, inline }))
  }
  expect(specWith(64 * 1024 - 100).inline?.command).toHaveLength(64 * 1024 - 100)
  expect(specWith(64 * 1024 - 99)).toEqual({ actionDigest, inline: undefined })
})

test('a damaged action spec is refused, or another parser reads it too', () => {
  fc.assert(
    fc.property(damaged(aSpec.map(actionSpecToProto)), (bytes) => {
      const read = orRefused(() => actionSpecFromProto(bytes))
      if (read !== undefined) expect(judged('windlass.task.v1.ActionSpec', bytes)).toBeDefined()
    }),
    { numRuns: ACCIDENTS },
  )
})
