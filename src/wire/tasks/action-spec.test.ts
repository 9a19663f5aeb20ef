import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ACCIDENTS, aDigest, aFunction, damaged, judged, maybe, orRefused } from '../messages/messages.fixture.ts'
import { actionSpecFromProto, actionSpecToProto } from './action-spec.ts'

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
const aSpec = fc.record({
  actionDigest: aFunction.chain(aDigest),
  inline: maybe(fc.record({ action: someBytes, command: someBytes })),
})

test('a spec comes back as it went', () => {
  fc.assert(
    fc.property(aSpec, (spec) => {
      expect(actionSpecFromProto(actionSpecToProto(spec))).toEqual(spec)
    }),
  )
})

test('an action and a command of more than 64 KiB together stay behind', () => {
  const actionDigest = { fn: 'sha256', hash: '0'.repeat(64), size: 7 } as const
  const specWith = (size: number) => {
    const inline = { action: Buffer.alloc(100, 1), command: Buffer.alloc(size, 1) }
    return actionSpecFromProto(actionSpecToProto({ actionDigest, inline }))
  }
  expect(specWith(64 * 1024 - 100).inline?.command).toHaveLength(64 * 1024 - 100)
  expect(specWith(64 * 1024 - 99)).toEqual({ actionDigest, inline: undefined })
})

test('a spec that was damaged is refused, or can be read by others', () => {
  fc.assert(
    fc.property(damaged(aSpec.map(actionSpecToProto)), (bytes) => {
      const read = orRefused(() => actionSpecFromProto(bytes))
      if (read !== undefined) expect(judged('windlass.task.v1.ActionSpec', bytes)).toBeDefined()
    }),
    { numRuns: ACCIDENTS },
  )
})
