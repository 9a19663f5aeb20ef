import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { BlobSource } from './blob-source.ts'

/**
 * The blobs that the store of one instance is known to hold. All instances of a worker share its file cache. A file
 * that another instance fetched may be used only after the instance's own store has confirmed that it holds the blob:
 * otherwise a client that knows a digest could read the blob of another tenant.
 */
export interface VouchedBlobs {
  add(digest: Digest): void
  /** Vouching for one tree. It remembers all blobs of the tree, without a limit. */
  forTree(): TreeVouching
}

export interface TreeVouching {
  has(digest: Digest): boolean
  /** Queries the store, and resolves with the absent digests. */
  check(digests: readonly Digest[], signal: AbortSignal): Promise<Digest[]>
}

const AT_A_TIME = 10_000
/** The size of the young generation, and of the old one. A blob that is no longer remembered is queried again. */
const MOST_REMEMBERED = 100_000

export function vouchedBlobs(source: BlobSource): VouchedBlobs {
  let young = new Set<string>()
  let old = new Set<string>()
  const add = (key: string): void => {
    if (young.size >= MOST_REMEMBERED) {
      old = young
      young = new Set()
    }
    young.add(key)
  }
  return {
    add: (digest) => add(keyOf(digest)),
    forTree() {
      const checked = new Set<string>()
      const knows = (key: string): boolean => young.has(key) || old.has(key) || checked.has(key)
      return {
        has: (digest) => knows(keyOf(digest)),
        async check(digests, signal) {
          const absent: Digest[] = []
          for (let at = 0; at < digests.length; at += AT_A_TIME) {
            const asked = digests.slice(at, at + AT_A_TIME)
            const lost = await source.missing(asked, signal)
            for (const digest of lost) absent.push(digest)
            const names = new Set(lost.map(keyOf))
            for (const key of asked.map(keyOf)) {
              if (names.has(key)) continue
              checked.add(key)
              add(key)
            }
          }
          return absent
        },
      }
    },
  }
}

const keyOf = (digest: Digest): string => `${digest.fn}/${formatDigest(digest)}`
