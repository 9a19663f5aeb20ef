import { expect, test } from 'vitest'
import { fileLocation, parseCasLocation, treeLocation } from './cas-location.ts'

const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 12 } as const

test('a written location is parsed equal', () => {
  expect(parseCasLocation(fileLocation(digest))).toEqual({ kind: 'file', digest, executable: false })
  expect(parseCasLocation(fileLocation(digest, true))).toEqual({ kind: 'file', digest, executable: true })
  expect(parseCasLocation(treeLocation(digest))).toEqual({ kind: 'tree', digest, path: [] })
  expect(parseCasLocation(`${treeLocation(digest)}/a%20b/c%23`)).toEqual({ kind: 'tree', digest, path: ['a b', 'c#'] })
})

test.each([
  'file:///etc/passwd',
  `cas:file/sha256/${digest.hash}/12/beside`,
  `cas:file/sha256/${digest.hash.toUpperCase()}/12`,
  `cas:file/sha256/${digest.hash}/012`,
  `cas:file/sha1/${digest.hash}/12`,
  `cas:tree/sha256/${digest.hash}/12/a/../b`,
  `cas:tree/sha256/${digest.hash}/12/a//b`,
  `cas:tree/sha256/${digest.hash}/12/%2e%2e/b`,
  `cas:tree/sha256/${digest.hash}/12/a%2fb`,
  `cas:tree/sha256/${digest.hash}/12/%zz`,
])('%s is no location of the store', (text) => {
  expect(parseCasLocation(text)).toBeUndefined()
})
