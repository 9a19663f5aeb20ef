import { type ArgumentTest, ROOM_RULES, type SeccompRule } from '../sandbox/seccomp/rules.ts'

interface ProfileArgument {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ'
}

const ENOSYS = 38
/** No socket family has a higher number. */
const FAMILIES = 64

/**
 * Encodes the sandbox's rules as the JSON profile that container engines read. There a test compares one bit or one
 * value and all tests of a rule must match, so "some of these bits" becomes one rule per bit.
 */
export function seccompProfile(rules: readonly SeccompRule[] = ROOM_RULES): string {
  const syscalls = rules.flatMap(({ call, when, error }) =>
    together(when.map(alternatives)).map((args) => ({
      names: [call],
      // Apptainer supports only EPERM. SCMP_ACT_TRACE without a tracer returns ENOSYS, which programs need for their
      // fallback: with EPERM, for example, glibc would not start threads.
      action: error === ENOSYS ? 'SCMP_ACT_TRACE' : 'SCMP_ACT_ERRNO',
      args,
    })),
  )
  const architectures = ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64']
  return JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', architectures, syscalls })
}

function alternatives(test: ArgumentTest): readonly ProfileArgument[] {
  const { arg: index } = test
  const isValue = (value: number): ProfileArgument => ({ index, value, op: 'SCMP_CMP_EQ' })
  if ('bits' in test)
    return bitsOf(test.bits).map((bit) => ({ index, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' }))
  if ('among' in test) return test.among.map(isValue)
  return Array.from({ length: FAMILIES }, (_, value) => value)
    .filter((value) => !test.notAmong.includes(value))
    .map(isValue)
}

const bitsOf = (bits: number): number[] =>
  Array.from({ length: 32 }, (_, i) => 2 ** i).filter((bit) => (bits & bit) !== 0)

/** All combinations of one element of each list. */
const together = <T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  choices.reduce<readonly (readonly T[])[]>(
    (ways, choice) => ways.flatMap((way) => choice.map((one) => [...way, one])),
    [[]],
  )
