import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from './digest.ts'
import { FaultError } from './fault.ts'

/**
 * Digests as text. One spelling for each: a second one (upper case, `+5`, `05`) would be a second name of the same
 * blob, and whatever compares names as text would take the two for different.
 */
const LOWER_HEX = /^[0-9a-f]*$/
const PLAIN_NUMBER = /^(0|[1-9][0-9]{0,15})$/

export const formatDigest = (digest: Digest): string => `${digest.hash}/${digest.size}`

/** Reads `hash/size`. Throws `invalid`. */
export function parseDigest(text: string, fn: DigestFunction): Digest {
  const slash = text.indexOf('/')
  if (slash < 0) throw invalid(`${quoted(text)} is not a digest: it must be hash/size`)
  const size = parseSize(text.slice(slash + 1))
  if (size === undefined) throw invalid(`${quoted(text.slice(slash + 1))} is not the size of a blob`)
  return checkedDigest(fn, text.slice(0, slash), size)
}

/** A digest of parts that came from outside. Throws `invalid`. */
export function checkedDigest(fn: DigestFunction, hash: string, size: number): Digest {
  if (!isHash(fn, hash)) {
    const digits = DIGEST_FUNCTIONS[fn].hashBytes * 2
    throw invalid(`${quoted(hash)} is not a ${fn} hash: it must be ${digits} lower-case hex digits`)
  }
  if (!isSize(size)) throw invalid(`${size} is not the size of a blob`)
  return { fn, hash, size }
}

export const isHash = (fn: DigestFunction, text: string): boolean =>
  text.length === DIGEST_FUNCTIONS[fn].hashBytes * 2 && LOWER_HEX.test(text)

export const isSize = (size: number): boolean => Number.isSafeInteger(size) && size >= 0

/** Undefined for all but a plain decimal number that a double holds exactly. */
export function parseSize(text: string): number | undefined {
  const size = PLAIN_NUMBER.test(text) ? Number(text) : -1
  return isSize(size) ? size : undefined
}

const invalid = (what: string): FaultError => new FaultError({ kind: 'invalid', what })

/** Enough to recognise it by; what came may be megabytes. */
const quoted = (text: string): string => JSON.stringify(text.length > 140 ? `${text.slice(0, 140)}…` : text)
