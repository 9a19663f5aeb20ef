import type { Grant } from '../../model/rights.ts'

/** An API key as it is stored: the secret itself is known only to the holder of the key. */
export interface KeyRecord {
  /** The public part of the key; unique and never used again. */
  readonly id: string
  /** Given by the administrator, for lists and the audit log. */
  readonly name: string
  /** SHA-256 of the secret part, in hex. The secret has 256 random bits, so a slow hash would add nothing. */
  readonly secretHash: string
  readonly grants: readonly Grant[]
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  readonly lastUsedAt: number | undefined
}

/** Stores API keys. Records are few and rarely change, so readers hold all of them in memory. */
export interface KeyStore {
  /** Returns all records, also revoked and expired ones, the oldest first. */
  list(): Promise<readonly KeyRecord[]>
  /** Adds a record, or replaces the one with the same id. Resolves when it is on the disk: a revocation is never lost. */
  put(record: KeyRecord): Promise<void>
  /** Records the last use of keys by id. An unknown id, or a use before the recorded one, changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>
  close(): Promise<void>
}
