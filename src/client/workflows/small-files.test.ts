import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { smallFilesIn } from './small-files.ts'

const digest = (text: string) => digestOf('sha256', Buffer.from(text))
const told = (text: string): string => `${formatDigest(digest(text))}\n${text}`

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'windlass-small-files-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function* pieces(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length))
}

test.each([1, 7, 71, 1000])('small files are read from pieces of %i bytes', async (length) => {
  const texts = ['one', 'two\nlines\n', 'three'.repeat(30)]
  const into = folder()
  const paths = await smallFilesIn(pieces(texts.map(told).join(''), length), texts.map(digest), into)
  expect(texts.map((text) => readFileSync(paths.get(digest(text).hash) ?? '', 'utf8'))).toEqual(texts)
})

test('files that were not requested, or were already received, are ignored', async () => {
  const into = folder()
  const paths = await smallFilesIn(pieces(told('x') + told('y') + told('x'), 10), [digest('x'), digest('z')], into)
  expect([...paths.keys()]).toEqual([digest('x').hash])
  expect(readdirSync(into)).toEqual([digest('x').hash])
})

test.each([
  ['other bytes', `${formatDigest(digest('xx'))}\nxy`],
  ['a path for a name', '../../x/2\nxx'],
  ['a size beyond all reason', `${digest('xx').hash}/99999999\nxx`],
  ['no line at all', 'x'.repeat(200)],
  ['half a file', told('xx').slice(0, -1)],
])('a response with %s is refused, and nothing is written', async (_, body) => {
  const into = folder()
  await expect(smallFilesIn(pieces(body, 1000), [digest('xx')], into)).rejects.toThrow('does not know')
  expect(readdirSync(into)).toEqual([])
})
