import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isList, isRecord, type Value, type ValueRecord } from '../../src/workflow/values/value.ts'

/**
 * The difference between an output object and the expected one, or undefined when they match, by the rules of the
 * suite's own judge: `Any` matches every value, files are compared by content, and additional fields of a file are
 * allowed.
 */
export function difference(expected: Value, actual: Value | undefined, at = 'output'): string | undefined {
  if (expected === 'Any') return undefined
  if (expected === null) return actual === null || actual === undefined ? undefined : `${at} should be null`
  if (actual === null || actual === undefined) return `${at} is not there`
  if (isList(expected)) return listDifference(expected, actual, at)
  if (!isRecord(expected)) return expected === actual ? undefined : `${at} is ${short(actual)}, not ${short(expected)}`
  if (!isRecord(actual)) return `${at} is ${short(actual)}, not ${short(expected)}`
  if (expected.class === 'File') return fileDifference(expected, actual, at)
  if (expected.class === 'Directory') return directoryDifference(expected, actual, at)
  const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key) && actual[key] !== null)
  return extra === undefined ? fieldsDifference(expected, actual, at) : `${at} has ${extra}, which is not expected`
}

const short = (value: Value): string => JSON.stringify(value).slice(0, 120)

function listDifference(expected: readonly Value[], actual: Value, at: string): string | undefined {
  if (!isList(actual)) return `${at} is no list`
  if (actual.length !== expected.length) return `${at} has ${actual.length} items, not ${expected.length}`
  return firstOf(expected.map((one, index) => () => difference(one, actual[index], `${at}[${index}]`)))
}

const fieldsDifference = (expected: ValueRecord, actual: ValueRecord, at: string): string | undefined =>
  firstOf(
    Object.entries(expected).map(
      ([key, one]) =>
        () =>
          difference(one, actual[key], `${at}.${key}`),
    ),
  )

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check()
    if (found !== undefined) return found
  }
  return undefined
}

const pathOf = (value: ValueRecord): string => {
  if (typeof value.path === 'string') return value.path
  return decodeURIComponent(String(value.location).replace(/^file:\/\//, ''))
}

function fileDifference(expected: ValueRecord, actual: ValueRecord, at: string): string | undefined {
  if (actual.class !== 'File') return `${at} is no File`
  if (!isThere(pathOf(actual))) return `${at}: there is no ${pathOf(actual)}`
  const { location, path, checksum, size, contents, ...rest } = expected
  const bytes = readFileSync(pathOf(actual))
  const onDisk: ValueRecord = {
    checksum: `sha1$${createHash('sha1').update(bytes).digest('hex')}`,
    size: bytes.length,
    contents: bytes.toString(),
  }
  const reported = Object.fromEntries(
    ['checksum', 'size'].flatMap((key) => (key in actual ? [[key, actual[key]]] : [])),
  )
  const requested = Object.entries({ checksum, size, contents }).filter(([, one]) => one !== undefined)
  return firstOf([
    () => placeDifference({ location, path }, actual, at),
    () => fieldsDifference(reported as ValueRecord, onDisk, `${at} (told)`),
    () => fieldsDifference(Object.fromEntries(requested) as ValueRecord, onDisk, at),
    () => fieldsDifference(rest, actual, at),
  ])
}

function placeDifference(
  expected: Readonly<Record<'location' | 'path', Value | undefined>>,
  actual: ValueRecord,
  at: string,
): string | undefined {
  for (const key of ['location', 'path'] as const) {
    const [requested, is] = [expected[key], actual[key]]
    if (requested === undefined || (requested === 'Any' && is !== undefined)) continue
    const name = String(requested).replace(/\/$/, '')
    const got = String(is).replace(/\/$/, '')
    if (got !== name && !got.endsWith(`/${name}`)) return `${at}.${key} is ${got}, not ${name}`
  }
  return undefined
}

function directoryDifference(expected: ValueRecord, actual: ValueRecord, at: string): string | undefined {
  if (actual.class !== 'Directory') return `${at} is no Directory`
  const { listing, location, path, ...rest } = expected
  const given = actual.listing
  if (!isList(given)) return `${at} has no listing`
  if (!isThere(pathOf(actual))) return `${at}: there is no ${pathOf(actual)}`
  const names = readdirSync(pathOf(actual))
  const missing = (isList(listing) ? listing : []).find((one) =>
    given.every((is) => difference(one, is, at) !== undefined),
  )
  if (missing !== undefined) return `${at} lacks ${short(missing)}, and has ${names.join(', ')}`
  return placeDifference({ location, path }, actual, at) ?? fieldsDifference(rest, actual, at)
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
