import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Caller } from '../../model/caller.ts'
import type { KeyRecord, KeyStore } from '../../storage/access/key-store.ts'
import { type KeyRequest, keyParts, type MintedKey, mintKey, secretHash } from './api-key.ts'

/** The API keys of a server, in memory over a store. */
export interface KeyRing {
  /** Throws `denied`, with the same text for an unknown, wrong, expired and revoked key. */
  authenticate(text: string): Caller
  create(request: KeyRequest): Promise<MintedKey>
  /** Also revoked and expired keys, the oldest first. */
  list(): readonly KeyRecord[]
  /** The key is refused as soon as this is called, and after a power failure too once it resolves. */
  revoke(id: string): Promise<void>
  /** Makes a key with the same name, grants and expiry, and revokes the old one. */
  rotate(id: string): Promise<MintedKey>
  /** Writes the times of the last uses. Called at intervals and before a stop. */
  flush(): Promise<void>
}

export interface KeyRingOptions {
  readonly store: KeyStore
  readonly clock: Pick<Clock, 'now'>
  /** Returns that many unpredictable bytes. */
  readonly random: (bytes: number) => Uint8Array
}

/** Compared with the secret of a key that does not exist, so that its refusal takes as long as that of a wrong secret. */
const NO_SECRET = '0'.repeat(64)

export async function keyRing({ store, clock, random }: KeyRingOptions): Promise<KeyRing> {
  const records = new Map((await store.list()).map((record) => [record.id, record]))
  let uses = new Map<string, number>()
  const put = async (record: KeyRecord): Promise<void> => {
    records.set(record.id, record)
    await store.put(record)
  }
  const known = (id: string): KeyRecord => {
    const record = records.get(id)
    if (record === undefined) throw new FaultError({ kind: 'absent', what: `no API key has the id ${id.slice(0, 40)}` })
    return record
  }
  const create = async (request: KeyRequest): Promise<MintedKey> => {
    const minted = mintKey(request, clock.now(), random)
    await put(minted.record)
    return minted
  }
  const revoke = async (record: KeyRecord): Promise<void> => {
    if (record.revokedAt === undefined) await put({ ...record, revokedAt: clock.now() })
  }
  return {
    authenticate(text) {
      const parts = keyParts(text)
      if (parts === undefined) throw refused()
      const record = records.get(parts.id)
      const isRight = isSame(secretHash(parts.secret), record?.secretHash ?? NO_SECRET)
      const now = clock.now()
      if (!isRight || record === undefined || !isValid(record, now)) throw refused()
      uses.set(record.id, now)
      return { kind: 'key', name: record.name, grants: record.grants }
    },
    create,
    list: () => [...records.values()].sort((one, other) => one.createdAt - other.createdAt),
    revoke: async (id) => await revoke(known(id)),
    async rotate(id) {
      const old = known(id)
      const { name, grants, expiresAt } = old
      if (!isValid(old, clock.now()))
        throw new FaultError({
          kind: 'invalid',
          what: `the API key ${id} has expired or was revoked: create a new one`,
        })
      const minted = await create({ name, grants, expiresAt })
      await revoke(old)
      return minted
    },
    async flush() {
      const written = uses
      uses = new Map()
      if (written.size > 0) await store.touch(written)
    },
  }
}

const isValid = ({ revokedAt, expiresAt }: KeyRecord, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || now < expiresAt)

const isSame = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other))

const refused = (): FaultError =>
  new FaultError({
    kind: 'denied',
    why: 'unknown-caller',
    what: 'the API key is not valid: it is unknown, has expired or was revoked',
  })
