import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KeyStore } from '../../storage/access/key-store.ts'
import { memoryKeyStore } from '../../storage/access/memory-key-store.ts'
import { keyRing } from './key-ring.ts'

const GRANTS = [{ role: 'client', instance: 'main' }] as const
const CI = { name: 'ci', grants: GRANTS, expiresAt: undefined } as const
const REFUSED = {
  message: 'the API key is not valid: it is unknown, has expired or was revoked',
  fault: { kind: 'denied', why: 'unknown-caller' },
}

async function ringOver(store: KeyStore = memoryKeyStore()) {
  const time = { now: 1000 }
  const ring = await keyRing({ store, clock: { now: () => time.now }, random: randomBytes })
  const refusalOf = (text: string): unknown => {
    try {
      return ring.authenticate(text)
    } catch (error) {
      return error
    }
  }
  return { ring, store, time, refusalOf }
}

test('a key authenticates its holder with its name and grants', async () => {
  const { ring } = await ringOver()
  const { text } = await ring.create(CI)
  expect(ring.authenticate(text)).toEqual({ kind: 'key', name: 'ci', grants: GRANTS })
})

test('a key is known after a restart, and the store has no secret', async () => {
  const { ring, store } = await ringOver()
  const { text } = await ring.create(CI)
  const secret = text.split('_').slice(2).join('_')
  expect(JSON.stringify(await store.list())).not.toContain(secret)
  const again = await ringOver(store)
  expect(again.ring.authenticate(text).name).toBe('ci')
})

test('unknown, wrong, malformed, expired and revoked keys get the same refusal', async () => {
  const { ring, time, refusalOf } = await ringOver()
  const { text } = await ring.create(CI)
  const expiring = await ring.create({ ...CI, expiresAt: 2000 })
  const revoked = await ring.create(CI)
  const unknown = (await (await ringOver()).ring.create(CI)).text
  const wrong = `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`
  await ring.revoke(revoked.record.id)
  time.now = 2000
  for (const refusedText of [unknown, wrong, '', 'Bearer', expiring.text, revoked.text])
    expect(refusalOf(refusedText)).toMatchObject(REFUSED)
  expect(ring.authenticate(text).name).toBe('ci')
})

test('the secret of one key does not open another one', async () => {
  const { ring, refusalOf } = await ringOver()
  const [one, other] = [await ring.create(CI), await ring.create(CI)]
  expect(refusalOf(one.text.replace(one.record.id, other.record.id))).toMatchObject(REFUSED)
})

test('a key is refused while its revocation is still being written', async () => {
  const slow = { ...memoryKeyStore() }
  const { ring, refusalOf } = await ringOver(slow)
  const { text, record } = await ring.create(CI)
  slow.put = () => new Promise(() => {})
  void ring.revoke(record.id)
  expect(refusalOf(text)).toMatchObject(REFUSED)
})

test('a second revocation keeps the time of the first', async () => {
  const { ring, time, store } = await ringOver()
  const { record } = await ring.create(CI)
  await ring.revoke(record.id)
  time.now = 9000
  await ring.revoke(record.id)
  expect((await store.list()).map(({ revokedAt }) => revokedAt)).toEqual([1000])
})

test('a rotated key keeps name, grants and expiry, and the old text is refused', async () => {
  const { ring, refusalOf } = await ringOver()
  const old = await ring.create({ ...CI, expiresAt: 5000 })
  const made = await ring.rotate(old.record.id)
  expect(made.record).toMatchObject({ name: 'ci', grants: GRANTS, expiresAt: 5000 })
  expect(ring.authenticate(made.text).name).toBe('ci')
  expect(refusalOf(old.text)).toMatchObject(REFUSED)
})

test('a revoked or expired key cannot be rotated', async () => {
  const { ring, time } = await ringOver()
  const [revoked, expired] = [await ring.create(CI), await ring.create({ ...CI, expiresAt: 1500 })]
  await ring.revoke(revoked.record.id)
  time.now = 1500
  for (const { record } of [revoked, expired])
    await expect(ring.rotate(record.id)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
})

test('an unknown id is absent for revoke and rotate', async () => {
  const { ring } = await ringOver()
  await expect(ring.revoke('nobody')).rejects.toMatchObject({ fault: { kind: 'absent' } })
  await expect(ring.rotate('nobody')).rejects.toMatchObject({ fault: { kind: 'absent' } })
})

test('flush writes the last use of each key once', async () => {
  const { ring, store, time } = await ringOver()
  const [used, unused] = [await ring.create(CI), await ring.create(CI)]
  ring.authenticate(used.text)
  time.now = 1200
  ring.authenticate(used.text)
  await ring.flush()
  await ring.flush()
  expect((await store.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]).sort()).toEqual(
    [
      [used.record.id, 1200],
      [unused.record.id, undefined],
    ].sort(),
  )
})
