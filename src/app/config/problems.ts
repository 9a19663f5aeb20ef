import type { z } from 'zod'
import { nearest } from '../../base/nearest.ts'

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table of strings',
}

/** Returns the schema's errors, each as one sentence with the source of the value, the key and the remedy. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  originOf: (key: string) => string | undefined,
  known: readonly string[],
): string[] {
  const withOrigin = (key: string, what: string) =>
    [originOf(key), what].filter((part) => part !== undefined).join(': ')
  return issues.flatMap((issue) => {
    const key = issue.path.join('.')
    if (issue.code !== 'unrecognized_keys') return [withOrigin(key, `${key}: ${sentence(issue)}`)]
    return issue.keys.map((name) => {
      const unknown = [...issue.path, name].join('.')
      return withOrigin(unknown, `${unknown} is not a known key${guess(unknown, known)}`)
    })
  })
}

function guess(unknown: string, known: readonly string[]): string {
  const name = nearest(unknown, known)
  return name === undefined ? '; see windlass config --explain' : `; did you mean ${name}?`
}

function sentence(issue: z.core.$ZodIssue): string {
  const found = `, found ${describe(issue.input)}`
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${KINDS[issue.expected] ?? issue.expected}${found}`
    case 'invalid_value':
      return `expected ${oneOf(issue.values.map((value) => JSON.stringify(value)))}${found}`
    case 'too_small':
      return issue.origin === 'string'
        ? 'expected some text, found an empty string'
        : `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}${found}`
    case 'too_big':
      return `expected at most ${issue.maximum}${found}`
    default:
      return issue.message.startsWith('expected') ? issue.message + found : issue.message
  }
}

const oneOf = (choices: readonly string[]): string =>
  choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `the string ${JSON.stringify(value)}`
  if (typeof value === 'number') return `the number ${value}`
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'a list'
  return value instanceof Date ? 'a date' : 'a table'
}
