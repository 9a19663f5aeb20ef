/**
 * Names of content. A digest is a hash and a size; both are part of the name, and so is the function that made the
 * hash: the same 64 hex digits under SHA-256 and BLAKE3 are two different blobs.
 */
export interface DigestKind {
  /** The number that the Remote Execution API gives it. */
  readonly number: number
  readonly hashBytes: number
}

export const DIGEST_FUNCTIONS = {
  sha256: { number: 1, hashBytes: 32 },
  sha1: { number: 2, hashBytes: 20 },
  md5: { number: 3, hashBytes: 16 },
  sha384: { number: 5, hashBytes: 48 },
  sha512: { number: 6, hashBytes: 64 },
  sha256tree: { number: 8, hashBytes: 32 },
  blake3: { number: 9, hashBytes: 32 },
} as const satisfies Record<string, DigestKind>

export type DigestFunction = keyof typeof DIGEST_FUNCTIONS

/** One digest, for where there are few of them. */
export interface Digest {
  readonly fn: DigestFunction
  /** Lower-case hex. */
  readonly hash: string
  readonly size: number
}

/**
 * Many digests of one function in flat arrays: requests carry ten thousand of them, and an object for each would cost
 * more than everything else that is done with them. Digest `i` has the hash bytes `[i * width, (i + 1) * width)`.
 */
export interface DigestList {
  readonly fn: DigestFunction
  /** Bytes of one hash. */
  readonly width: number
  readonly count: number
  readonly hashes: Uint8Array
  readonly sizes: Float64Array
}

const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as readonly DigestFunction[]
const BY_NAME: ReadonlyMap<string, DigestFunction> = new Map(FUNCTIONS.map((fn) => [fn, fn]))
const BY_NUMBER: ReadonlyMap<number, DigestFunction> = new Map(FUNCTIONS.map((fn) => [DIGEST_FUNCTIONS[fn].number, fn]))

/**
 * The digest function by its number in a message; undefined for functions that we do not support and for 0 (not set).
 */
export const digestFunctionByNumber = (number: number): DigestFunction | undefined => BY_NUMBER.get(number)

/** By the lower-case name, as resource names spell it. */
export const digestFunctionByName = (name: string): DigestFunction | undefined => BY_NAME.get(name)

/**
 * The digest function of a hash of this length when the client did not name it. SHA-256, SHA256TREE and BLAKE3 have the
 * same length: use the preferred function where it fits (some clients of a BLAKE3 instance never name it), else the
 * function that the protocol allows clients not to name, which is first in the table.
 */
export function digestFunctionByHexLength(hexLength: number, preferred?: DigestFunction): DigestFunction | undefined {
  const fits = (fn: DigestFunction): boolean => DIGEST_FUNCTIONS[fn].hashBytes * 2 === hexLength
  return preferred !== undefined && fits(preferred) ? preferred : FUNCTIONS.find(fits)
}

export const sameDigest = (a: Digest, b: Digest): boolean => a.size === b.size && a.hash === b.hash && a.fn === b.fn
