import { createHash } from 'node:crypto'
import type { Grant } from '../../model/rights.ts'
import type { KeyRecord } from '../../storage/access/key-store.ts'

/**
 * The text of an API key: `wl_ID_SECRET`. The id is public: lists and logs show it, and the server finds the record by
 * it. The fixed beginning lets secret scanners recognise a key that was published by mistake.
 */
const FORM = /^wl_([a-z2-7]{16})_([A-Za-z0-9_-]{43})$/
const ID_BYTES = 10
const SECRET_BYTES = 32

export interface KeyRequest {
  readonly name: string
  readonly grants: readonly Grant[]
  readonly expiresAt: number | undefined
}

export interface MintedKey {
  readonly record: KeyRecord
  /** Shown once: the server cannot restore it. */
  readonly text: string
}

/** Makes a new key; `random` returns that many unpredictable bytes. */
export function mintKey(request: KeyRequest, now: number, random: (bytes: number) => Uint8Array): MintedKey {
  const id = base32(random(ID_BYTES))
  const secret = Buffer.from(random(SECRET_BYTES)).toString('base64url')
  const record = { id, ...request, secretHash: secretHash(secret), createdAt: now }
  return { record: { ...record, revokedAt: undefined, lastUsedAt: undefined }, text: `wl_${id}_${secret}` }
}

export interface KeyParts {
  readonly id: string
  readonly secret: string
}

/** Returns undefined for a text that is not a key of this server's form. */
export function keyParts(text: string): KeyParts | undefined {
  const [, id, secret] = FORM.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** RFC 4648, section 6, in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => 'abcdefghijklmnopqrstuvwxyz234567'.charAt(Number.parseInt(five, 2)))
}
