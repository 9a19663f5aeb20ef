import { createHash } from 'node:crypto'
import type { DigestFunction } from '../../../base/digest.ts'
import { hashOf } from '../../../base/hashing/hash-of.ts'
import type {
  Digest,
  DigestFunction_Value,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'

/** A digest function that this suite can compute. */
export interface DigestFn {
  readonly name: string
  readonly number: DigestFunction_Value
  readonly hexLength: number
  /** Its segment of a resource name, with the slash; empty for functions that the length of the hash identifies. */
  readonly segment: string
  hash(bytes: Uint8Array): string
}

const plain = (name: string, number: DigestFunction_Value, hexLength: number): DigestFn => ({
  name,
  number,
  hexLength,
  segment: '',
  hash: (bytes) => createHash(name).update(bytes).digest('hex'),
})

/** Its hashes have the same length as those of another function, so requests must set the digest function. */
const named = (name: string, number: DigestFunction_Value, fn: DigestFunction): DigestFn => ({
  name,
  number,
  hexLength: 64,
  segment: `${fn}/`,
  hash: (bytes) => Buffer.from(hashOf(fn, bytes)).toString('hex'),
})

const gitSha1: DigestFn = {
  name: 'GITSHA1',
  number: 10,
  hexLength: 40,
  segment: 'gitsha1/',
  hash: (bytes) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
}

/** SHA256 is first: if it is advertised, all checks that do not test digest functions use it. */
export const DIGEST_FNS: readonly DigestFn[] = [
  plain('SHA256', 1, 64),
  plain('SHA1', 2, 40),
  plain('MD5', 3, 32),
  plain('SHA384', 5, 96),
  plain('SHA512', 6, 128),
  named('SHA256TREE', 8, 'sha256tree'),
  named('BLAKE3', 9, 'blake3'),
  gitSha1,
]

/** The value of digest_function in requests: unset for functions that the length of the hash identifies. */
export const fieldOf = ({ number, segment }: DigestFn): DigestFunction_Value => (segment === '' ? 0 : number)

export const digestWith = (fn: DigestFn, bytes: Uint8Array): Digest => ({
  hash: fn.hash(bytes),
  sizeBytes: bytes.length,
})
