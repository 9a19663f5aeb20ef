import { describe, expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../../testing/random-source.ts'
import { type FilterArch, seccompFilter } from './filter.ts'
import { ROOM_RULES, type SeccompRule, SYSTEM_V_RULES } from './rules.ts'
import { NEWEST_CALL, SYSTEM_CALLS, type SystemCall } from './system-calls.ts'

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 }
const ALLOW = 0x7fff0000
const KILL = 0x80000000
const EPERM = 0x00050001
const ENOSYS = 0x00050026

interface Call {
  readonly arch: number
  readonly number: number
  readonly args: readonly number[]
}

/** Emulates the kernel: runs the program on one call and returns its verdict. */
function answerOf(filter: Uint8Array, { arch, number, args }: Call): number {
  const seen = Buffer.alloc(64)
  seen.writeUInt32LE(number, 0)
  seen.writeUInt32LE(arch, 4)
  for (const [i, arg] of args.entries()) seen.writeUInt32LE(arg >>> 0, 16 + 8 * i)
  const program = Buffer.from(filter)
  let value = 0
  for (let at = 0; at < program.length / 8; ) {
    const [code, holds, fails] = [program.readUInt16LE(at * 8), program[at * 8 + 2], program[at * 8 + 3]] as number[]
    const k = program.readUInt32LE(at * 8 + 4)
    at++
    if (code === 0x06) return k
    if (code === 0x20) value = seen.readUInt32LE(k)
    else at += (meets(code as number, value, k) ? holds : fails) as number
  }
  throw new Error('the program ran past its end')
}

function meets(code: number, value: number, k: number): boolean {
  if (code === 0x15) return value === k
  if (code === 0x25) return value > k
  if (code === 0x35) return value >= k
  if (code === 0x45) return (value & k) >>> 0 !== 0
  throw new Error(`no such instruction: ${code}`)
}

const numberOf = (call: SystemCall, arch: FilterArch): number | undefined => SYSTEM_CALLS[call][arch === 'x64' ? 0 : 1]

/** The verdict of the rules, without a program. */
function expected(arch: FilterArch, number: number, args: readonly number[]): number {
  if (number > NEWEST_CALL) return ENOSYS
  const isMet = (test: SeccompRule['when'][number]): boolean => {
    const arg = (args[test.arg] ?? 0) >>> 0
    if ('bits' in test) return (arg & test.bits) >>> 0 !== 0
    return 'among' in test ? test.among.includes(arg) : !test.notAmong.includes(arg)
  }
  const rule = ROOM_RULES.find(({ call, when }) => numberOf(call, arch) === number && when.every(isMet))
  return rule === undefined ? ALLOW : 0x00050000 | rule.error
}

describe.each(['x64', 'arm64'] as const)('seccomp filter on %s', (arch) => {
  const filter = seccompFilter(arch) as Uint8Array
  const ask = (number: number, ...args: number[]): number => answerOf(filter, { arch: ARCH[arch], number, args })

  test('the verdict for every call, with random arguments, is that of the rules', () => {
    const seed = seedOfRun()
    const random = randomFrom(seed)
    const values = [
      0, 1, 2, 10, 16, 38, 40, 0o100, 0o4755, 0o755, 0x5412, 0x541c, 0x10000000, 0x80, 0x40000000, 0xffffffff,
    ]
    for (let number = 0; number <= NEWEST_CALL + 40; number++)
      for (let i = 0; i < 40; i++) {
        const args = Array.from({ length: 6 }, () => values[random.below(values.length)] as number)
        expect(ask(number, ...args), `seed ${seed}: ${number}(${args})`).toBe(expected(arch, number, args))
      }
  })

  test('threads and processes can be created, but no namespaces', () => {
    const clone = numberOf('clone', arch) as number
    const ofThread = 0x003d0f00
    expect([ask(clone, ofThread), ask(clone, 17), ask(clone, 0x10000000 | 17)]).toEqual([ALLOW, ALLOW, EPERM])
    expect(ask(numberOf('clone3', arch) as number)).toBe(ENOSYS)
    const unshare = numberOf('unshare', arch) as number
    expect([ask(unshare, 0x400), ask(unshare, 0x20000), ask(unshare, 0x80)]).toEqual([ALLOW, EPERM, EPERM])
  })

  test('a call with the numbers of another architecture kills the process', () => {
    expect(answerOf(filter, { arch: 0x40000003, number: 20, args: [] })).toBe(KILL)
    expect(answerOf(filter, { arch: ARCH[arch === 'x64' ? 'arm64' : 'x64'], number: 20, args: [] })).toBe(KILL)
  })

  test("the filter has fewer than 4,096 instructions, the kernel's limit", () => {
    expect(filter.length / 8).toBeLessThan(4096)
  })
})

test('a call number with the x32 bit fails with ENOSYS', () => {
  const filter = seccompFilter('x64') as Uint8Array
  expect(answerOf(filter, { arch: ARCH.x64, number: 0x40000000 + 101, args: [] })).toBe(ENOSYS)
})

test('the table of system calls contains exactly the calls that have rules', () => {
  const rules = [...ROOM_RULES, ...SYSTEM_V_RULES]
  expect(new Set(rules.map(({ call }) => call))).toEqual(new Set(Object.keys(SYSTEM_CALLS)))
})

test('there is no filter for an architecture without call numbers', () => {
  expect(seccompFilter('mips')).toBeUndefined()
})
