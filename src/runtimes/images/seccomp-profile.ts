import { type ArgumentTest, ROOM_RULES, type SeccompRule } from '../sandbox/seccomp/rules.ts'

interface ProfileArgument {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ'
}

const ENOSYS = 38
/** No family of sockets has a higher number. */
const FAMILIES = 64

/**
 * The rules of a sandbox as a profile in JSON, which engines of containers read. There a test is of one bit or one value and the tests
 * of a rule must all hold: what says "some of these" becomes a rule for each.
 */
export function seccompProfile(rules: readonly SeccompRule[] = ROOM_RULES): string {
  const syscalls = rules.flatMap(({ call, when, error }) =>
    together(when.map(alternatives)).map((args) => ({
      names: [call],
      // Apptainer knows one error only, EPERM. To ask a tracer where there is none is answered with ENOSYS, which programs need to
      // hear: with another error they would not do without what is refused, and start no threads.
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

/** One of each, in every way. */
const together = <T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  choices.reduce<readonly (readonly T[])[]>(
    (ways, choice) => ways.flatMap((way) => choice.map((one) => [...way, one])),
    [[]],
  )
