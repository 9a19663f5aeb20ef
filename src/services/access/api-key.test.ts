import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyParts, mintKey, secretHash } from './api-key.ts'

const request = { name: 'ci', grants: [{ role: 'client', instance: 'main' }], expiresAt: 5000 } as const

test('a minted key is found by its id, and its record has the hash of its secret alone', () => {
  const { record, text } = mintKey(request, 1000, randomBytes)
  const { id, secret } = keyParts(text) ?? { id: '', secret: '' }
  expect(record).toEqual({
    ...request,
    id,
    secretHash: secretHash(secret),
    createdAt: 1000,
    revokedAt: undefined,
    lastUsedAt: undefined,
  })
  expect(JSON.stringify(record)).not.toContain(secret)
})

test('a thousand keys have a thousand ids and secrets', () => {
  const texts = Array.from({ length: 1000 }, () => mintKey(request, 0, randomBytes).text)
  expect(new Set(texts.map((text) => keyParts(text)?.id)).size).toBe(1000)
  expect(new Set(texts.map((text) => keyParts(text)?.secret)).size).toBe(1000)
})

test('the id is the base32 of its random bytes', () => {
  const { record } = mintKey(request, 0, (count) => Buffer.from('foobarfoob'.repeat(4)).subarray(0, count))
  expect(record.id).toBe('mzxw6ytbojtg633c')
})

const { text } = mintKey(request, 0, randomBytes)
test.each([
  ['an empty text', ''],
  ['a text with a space at the end', `${text} `],
  ['a text with a line break at the end', `${text}\n`],
  ['a key without its last character', text.slice(0, -1)],
  ['a key in upper case', text.toUpperCase()],
  ['a key with another beginning', text.replace('wl_', 'gh_')],
  ['a megabyte', 'a'.repeat(1 << 20)],
])('%s has no parts', (_, wrong) => {
  expect(keyParts(wrong)).toBeUndefined()
})
