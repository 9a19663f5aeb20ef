/**
 * A seccomp filter in the form that the kernel loads: a program in classic BPF. It reads the number of a system call
 * and the lower halves of its arguments, and returns whether the call is allowed. An instruction has 8 bytes: an
 * operation, the numbers of instructions to skip when a test is true and when it is false, and a constant. Each rule is
 * one block, which either returns or is skipped as a whole, so that no jump exceeds the limit of 255 instructions.
 *
 * When a filter is loaded, the kernel runs it once for every system call and remembers those that are always allowed.
 * So blocks are sorted by number and grouped; one test skips most groups.
 */
import { ROOM_RULES, type SeccompRule } from './rules.ts'
import { NEWEST_CALL, SYSTEM_CALLS } from './system-calls.ts'

export type FilterArch = 'x64' | 'arm64'

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
/** Calls of the x32 ABI have this bit set, and would otherwise pass under other numbers. */
const X32_BIT = 0x40000000

const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_GREATER = 0x25
const JUMP_AT_LEAST = 0x35
const JUMP_BITS = 0x45
const ANSWER = 0x06

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const errno = (error: number): number => 0x00050000 | error
const ENOSYS = 38

/**
 * Offsets in struct seccomp_data: the number, the architecture, the instruction pointer, six arguments of eight bytes.
 */
const NUMBER_AT = 0
const ARCH_AT = 4
const argumentAt = (arg: number): number => 16 + 8 * arg

/** Rules per group. */
const GROUP_SIZE = 8

interface Instruction {
  readonly code: number
  readonly k: number
  /** Instructions to skip; `pass` is the end of the block, where a call that does not match is allowed. */
  readonly holds?: number | 'pass'
  readonly fails?: number | 'pass'
}

const load = (at: number): Instruction => ({ code: LOAD, k: at })
const answer = (k: number): Instruction => ({ code: ANSWER, k })

/** The filter's program; undefined for an architecture without a table of system calls. */
export function seccompFilter(arch: string, rules: readonly SeccompRule[] = ROOM_RULES): Uint8Array | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined
  const program: Instruction[] = [
    load(ARCH_AT),
    { code: JUMP_EQUAL, k: AUDIT_ARCH[arch], holds: 1, fails: 0 },
    answer(KILL), // programs of another architecture use other numbers
    load(NUMBER_AT),
    ...(arch === 'x64' ? [{ code: JUMP_AT_LEAST, k: X32_BIT, holds: 0, fails: 1 }, answer(errno(ENOSYS))] : []),
    { code: JUMP_GREATER, k: NEWEST_CALL, holds: 0, fails: 1 },
    answer(errno(ENOSYS)),
    ...shelvesOf(rules, arch),
    answer(ALLOW),
  ]
  return encoded(program)
}

interface NumberedRule extends SeccompRule {
  readonly number: number
}

function shelvesOf(rules: readonly SeccompRule[], arch: FilterArch): Instruction[] {
  const numbered = rules.flatMap((rule): NumberedRule[] => {
    const number = SYSTEM_CALLS[rule.call][arch === 'x64' ? 0 : 1]
    return number === undefined ? [] : [{ ...rule, number }]
  })
  const sorted = numbered.toSorted((one, other) => one.number - other.number)
  return Array.from({ length: Math.ceil(sorted.length / GROUP_SIZE) }, (_, i) => {
    const group = sorted.slice(i * GROUP_SIZE, (i + 1) * GROUP_SIZE)
    const body = [...group.flatMap(blockOf), answer(ALLOW)]
    return [{ code: JUMP_GREATER, k: group.at(-1)?.number ?? 0, holds: body.length, fails: 0 }, ...body]
  }).flat()
}

function blockOf({ number, when, error }: NumberedRule): Instruction[] {
  const refuse = answer(errno(error))
  // Loading an argument overwrites the number, so a block with tests must end with "allow".
  const body = when.length === 0 ? [refuse] : [...resolved([...when.flatMap(testOf), refuse]), answer(ALLOW)]
  return [{ code: JUMP_EQUAL, k: number, holds: 0, fails: body.length }, ...body]
}

function testOf(test: SeccompRule['when'][number]): Instruction[] {
  const value = load(argumentAt(test.arg))
  if ('bits' in test) return [value, { code: JUMP_BITS, k: test.bits, holds: 0, fails: 'pass' }]
  if ('notAmong' in test)
    return [value, ...test.notAmong.map((k): Instruction => ({ code: JUMP_EQUAL, k, holds: 'pass', fails: 0 }))]
  const last = test.among.length - 1
  return [
    value,
    ...test.among.map(
      (k, i): Instruction => ({ code: JUMP_EQUAL, k, holds: last - i, fails: i === last ? 'pass' : 0 }),
    ),
  ]
}

/** Replaces `pass` by the number of instructions to the end of the block. */
const resolved = (block: readonly Instruction[]): Instruction[] =>
  block.map((instruction, i) => {
    const skips = (jump: Instruction['holds']): number => (jump === 'pass' ? block.length - 1 - i : (jump ?? 0))
    return { ...instruction, holds: skips(instruction.holds), fails: skips(instruction.fails) }
  })

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [i, { code, k, holds = 0, fails = 0 }] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8)
    bytes.writeUInt8(holds as number, i * 8 + 2)
    bytes.writeUInt8(fails as number, i * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, i * 8 + 4)
  }
  return bytes
}
