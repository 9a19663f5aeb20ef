import { expect, test } from 'vitest'
import { digestListOf } from '../../../base/digest-list.ts'
import { formatDigest } from '../../../base/digest-text.ts'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { smallFiles } from './output-files.ts'

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const digest = (text: string) => digestOf('sha256', bytesOf(text))

async function storeWith(...texts: readonly string[]) {
  const blobs = memoryStore()
  await blobs.writeMany(digestListOf('sha256', texts.map(digest)), texts.map(bytesOf))
  return blobs
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const framed = (text: string): string => `${formatDigest(digest(text))}\n${text}`

test('small files are sent one after the other, each once', async () => {
  const blobs = await storeWith('one', 'two', 'three')
  const files = ['one', 'two', 'three', 'one'].map(digest)
  expect(await textOf(smallFiles(files, blobs))).toBe(framed('one') + framed('two') + framed('three'))
})

test('files above 64 KiB and files missing from the store are omitted', async () => {
  const large = 'x'.repeat(64 * 1024 + 1)
  const blobs = await storeWith('here', large)
  expect(await textOf(smallFiles(['gone', large, ''].map(digest), blobs))).toBe('')
  expect(await textOf(smallFiles(['gone', 'here', large].map(digest), blobs))).toBe(framed('here'))
})

test('1,200 files are all sent', async () => {
  const texts = Array.from({ length: 1200 }, (_, at) => `file ${at} ${'.'.repeat(500)}`)
  const blobs = await storeWith(...texts)
  expect(await textOf(smallFiles(texts.map(digest), blobs))).toBe(texts.map(framed).join(''))
})
