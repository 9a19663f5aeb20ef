import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'

/** Space (0 to 255) and digest function in one number, never 0: the part of a blob's key that a whole list shares. */
export const tagOf = (space: number, fn: DigestFunction): number => (space << 4) | DIGEST_FUNCTIONS[fn].number
