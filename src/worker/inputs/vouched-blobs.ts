import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { BlobSource } from './blob-source.ts'

/**
 * Which blobs the store of one instance was seen to hold. All instances of a worker share its cache of files, but a file
 * that another instance brought is as good as none until one's own store says that it has it too: else whoever knows a
 * digest could have the blob of another tenant.
 */
export interface VouchedBlobs {
  add(digest: Digest): void
  /** For one tree, of which nothing is forgotten, however large it is. */
  forTree(): TreeVouching
}

export interface TreeVouching {
  has(digest: Digest): boolean
  /** Asks for those that are not known; answers those that the store does not have. */
  check(digests: readonly Digest[], signal: AbortSignal): Promise<Digest[]>
}

const AT_A_TIME = 10_000
/** Entries in the young generation, and as many in the old one. A forgotten blob is looked up again. */
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
