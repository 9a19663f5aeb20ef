import type { Context } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import type { DigestFunction } from '../../../base/digest.ts'
import { FaultError } from '../../../base/fault.ts'
import { createHasher } from '../../../base/hashing/create-hasher.ts'
import { bodyPieces } from '../server/body-pieces.ts'

export interface GatheredBody {
  readonly bytes: Uint8Array
  /** Lower-case hex. */
  readonly hash: string
}

/** The limit of all bodies in memory together, over all connections. */
const MOST_BYTES = 256 * 1024 * 1024
const RETRY_AFTER_MS = 5000

/** Reads a body into memory and passes it on; hashes it piece by piece, so that no turn of the event loop is long. */
export function bodyGatherer(clock: Clock) {
  let held = 0
  return async <T>(c: Context, fn: DigestFunction, use: (body: GatheredBody) => Promise<T>): Promise<T> => {
    const pieces: Uint8Array[] = []
    const hasher = createHasher(fn)
    let own = 0
    try {
      for await (const piece of bodyPieces(c.req.raw, clock)) {
        own += piece.length
        held += piece.length
        if (held > MOST_BYTES) {
          throw new FaultError({
            kind: 'exhausted',
            resource: 'memory for bodies of /ac/',
            retryAfterMs: RETRY_AFTER_MS,
          })
        }
        pieces.push(piece)
        hasher.update(piece)
      }
      return await use({ bytes: Buffer.concat(pieces), hash: Buffer.from(hasher.digest()).toString('hex') })
    } finally {
      held -= own
    }
  }
}
