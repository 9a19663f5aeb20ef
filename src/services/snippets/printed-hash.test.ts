import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { hashOfText, printedHash } from './printed-hash.ts'

test.each([
  ['a\nb\n', 'a\nb'],
  ['a  \nb\t\r\n', 'a\nb'],
  ['a\r\nb\r\n', 'a\nb\n'],
  ['a\n\n\n', 'a'],
  ['', ' \n \t\n'],
])('%j counts as the same output as %j', (one, other) => {
  expect(hashOfText(one)).toBe(hashOfText(other))
})

test.each([
  ['a\nb', 'ab'],
  ['a\n\nb', 'a\nb'],
  [' a', 'a'],
  ['a  b', 'a b'],
  ['a', 'A'],
  ['a', ''],
  ['\na', 'a'],
])('%j is other output than %j', (one, other) => {
  expect(hashOfText(one)).not.toBe(hashOfText(other))
})

const seed = seedOfRun()

test(`the hash does not depend on the pieces in which the output arrives (seed ${seed})`, () => {
  const random = randomFrom(seed)
  for (let round = 0; round < 200; round++) {
    const bytes = Buffer.from(Array.from({ length: random.below(60) }, () => 'ab \t\r\n'.charCodeAt(random.below(6))))
    const plain = bytes
      .toString('latin1')
      .split('\n')
      .map((line) => line.replace(/[ \t\r]+$/, ''))
      .join('\n')
      .replace(/\n+$/, '')
    const hash = printedHash()
    for (let at = 0; at < bytes.length; ) {
      const step = 1 + random.below(5)
      hash.add(bytes.subarray(at, at + step))
      at += step
    }
    expect(hash.end(), JSON.stringify(bytes.toString())).toBe(hashOfText(plain))
  }
})
