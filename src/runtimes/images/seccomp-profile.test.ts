import { expect, test } from 'vitest'
import { ROOM_RULES } from '../sandbox/seccomp/rules.ts'
import { seccompProfile } from './seccomp-profile.ts'

interface Profile {
  readonly defaultAction: string
  readonly syscalls: readonly {
    readonly names: readonly string[]
    readonly action: string
    readonly args: readonly object[]
  }[]
}

const profile = JSON.parse(seccompProfile()) as Profile
const rulesFor = (name: string) => profile.syscalls.filter(({ names }) => names.includes(name))

test('every call that a sandbox refuses is in the profile', () => {
  const calls = new Set(ROOM_RULES.map(({ call }) => call))
  expect(new Set(profile.syscalls.flatMap(({ names }) => names))).toEqual(calls)
})

test('a call that is always refused has one rule without argument tests', () => {
  expect(rulesFor('ptrace')).toEqual([{ names: ['ptrace'], action: 'SCMP_ACT_ERRNO', args: [] }])
})

test('clone3 is answered with SCMP_ACT_TRACE, as if the kernel did not have it', () => {
  expect(rulesFor('clone3').map(({ action }) => action)).toEqual(['SCMP_ACT_TRACE'])
})

test('a test for any of several bits becomes one rule per bit', () => {
  const user = 0x10000000
  expect(rulesFor('unshare')).toHaveLength(8)
  expect(rulesFor('unshare').map(({ args }) => args)).toContainEqual([
    { index: 0, value: user, valueTwo: user, op: 'SCMP_CMP_MASKED_EQ' },
  ])
})

test('bits of two arguments become one rule per pair', () => {
  expect(rulesFor('openat')).toHaveLength(4)
  expect(rulesFor('openat').every(({ args }) => args.length === 2)).toBe(true)
})

test('a list of allowed socket families becomes one rule per refused family', () => {
  const families = rulesFor('socket').map(({ args }) => (args[0] as { value: number }).value)
  expect(families).toContain(40)
  for (const allowed of [1, 2, 10, 16]) expect(families).not.toContain(allowed)
})
