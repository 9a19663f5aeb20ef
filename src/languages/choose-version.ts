import { invalid } from '../base/fault.ts'

/** The newest first. */
export const sortedVersions = (versions: readonly string[]): string[] =>
  [...new Set(versions)].sort((one, other) => compareVersions(other, one))

/**
 * The newest version that matches a selector, releases before pre-releases; undefined when none matches. A selector is
 * a version, a prefix (`3`, `3.11`, `3.x`), `*`, or an npm range: `^3.9`, `~3.9.1`, `>=3.8 <4`, several of them with
 * `||` between. Versions come from compilers, so they may have more or fewer than three numbers.
 */
export function chooseVersion(selector: string | undefined, versions: readonly string[]): string | undefined {
  const requested = selector?.trim() ?? ''
  const alternatives = requested === '' ? [[]] : rangesOf(requested)
  if (versions.includes(requested)) return requested
  const fitting = sortedVersions(versions).filter((version) =>
    alternatives.some((tests) => tests.every((fits) => fits(version))),
  )
  return fitting.find((version) => !isEarly(version)) ?? fitting[0]
}

type Test = (version: string) => boolean

const MOST_LETTERS = 256
const COMPARATOR =
  /^(\^|~|>=|<=|>|<|=)?v?(\*|[xX]|\d{1,9}(?:[.-](?:\d{1,9}|[xX*]))*)((?:[.+~-]?[0-9A-Za-z][0-9A-Za-z.+~-]*)?)$/

function rangesOf(selector: string): Test[][] {
  if (selector.length > MOST_LETTERS) throw invalid('version: is too long')
  return selector.split('||').map((range) =>
    range
      .trim()
      .replace(/(\^|~|>=|<=|>|<|=)\s+/g, '$1')
      .split(/\s+/)
      .map((word) => testOf(word, selector)),
  )
}

function testOf(word: string, selector: string): Test {
  const [, sign = '', numbers, rest = ''] = COMPARATOR.exec(word) ?? []
  if (numbers === undefined)
    throw invalid(`version: ${JSON.stringify(selector)} is neither a version nor a range such as ^3.9, 3.x or *`)
  const parts = numbers.split(/[.-]/)
  const open = parts.findIndex((part) => /^[xX*]$/.test(part))
  const base = (open < 0 ? parts : parts.slice(0, open)).map(Number)
  if (rest !== '' && (sign === '' || sign === '=')) return (version) => version === word.replace(/^=?v?/, '')
  return TESTS[sign as keyof typeof TESTS](base)
}

const begins = (version: string, base: readonly number[]): boolean => {
  const numbers = numbersOf(version)
  return base.every((number, i) => (numbers[i] ?? 0) === number)
}

/** Compares only as many numbers as the range has: `<=3.11` includes 3.11.9, `>3.11` does not. */
const against = (version: string, base: readonly number[]): number =>
  compareNumbers(numbersOf(version).slice(0, base.length), base)

const TESTS = {
  '': (base) => (version) => begins(version, base),
  '=': (base) => (version) => begins(version, base),
  // The first number that is not 0 must be equal.
  '^': (base) => (version) => {
    const fixed = base.findIndex((number) => number !== 0)
    return begins(version, base.slice(0, fixed < 0 ? base.length : fixed + 1)) && against(version, base) >= 0
  },
  '~': (base) => (version) => begins(version, base.slice(0, 2)) && against(version, base) >= 0,
  '>=': (base) => (version) => against(version, base) >= 0,
  '<=': (base) => (version) => against(version, base) <= 0,
  '>': (base) => (version) => against(version, base) > 0,
  '<': (base) => (version) => against(version, base) < 0,
} satisfies Record<string, (base: readonly number[]) => Test>

const numbersOf = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number)

function compareNumbers(one: readonly number[], other: readonly number[]): number {
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const difference = (one[i] ?? 0) - (other[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const isEarly = (version: string): boolean => /[a-z]/i.test(version)

/** By their numbers; a pre-release comes before its release. */
export function compareVersions(one: string, other: string): number {
  const core = (version: string): number[] => numbersOf(version.replace(/[a-z].*$/i, ''))
  return (
    compareNumbers(core(one), core(other)) ||
    Number(isEarly(other)) - Number(isEarly(one)) ||
    compareNumbers(numbersOf(one), numbersOf(other)) ||
    (one < other ? -1 : one > other ? 1 : 0)
  )
}
