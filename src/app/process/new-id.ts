import { randomFillSync } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'

const ID_BYTES = 16
/** Fetches randomness for many ids at a time: each fetch costs more than the rest. */
const pool = Buffer.alloc(256 * ID_BYTES)
let used = pool.length

/** Returns a function that makes ids, for components that get it as an argument. */
export const idsBy =
  ({ now }: Pick<Clock, 'now'>) =>
  (): string =>
    newId(now)

/** Makes a UUID of version 7: not guessable, and later ones sort after earlier ones, which suits indexes on disk. */
export function newId(now: () => number): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, used + ID_BYTES)
  used += ID_BYTES
  bytes.writeUIntBE(Math.max(0, Math.floor(now())), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
