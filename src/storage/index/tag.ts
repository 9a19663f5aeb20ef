import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'

/** Combines a space (0 to 4095) and a digest function in one number, never 0. All digests of a list share it. */
export const tagOf = (space: number, fn: DigestFunction): number => (space << 4) | DIGEST_FUNCTIONS[fn].number
