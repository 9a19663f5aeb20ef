import { expect, test } from 'vitest'
import { digestListOf } from '../../../base/digest-list.ts'
import { formatDigest } from '../../../base/digest-text.ts'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import { fileLocation, treeLocation } from '../../../model/cas-location.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { smallFiles } from './output-files.ts'

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const digest = (text: string) => digestOf('sha256', bytesOf(text))
const file = (text: string) => ({ class: 'File', location: fileLocation(digest(text)) })

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

const told = (text: string): string => `${formatDigest(digest(text))}\n${text}`

test('small files come one after the other, each once and however deep they are named', async () => {
  const blobs = await storeWith('one', 'two', 'three')
  const outputs = { a: file('one'), list: [{ ...file('two'), secondaryFiles: [file('three')] }, file('one')] }
  expect(await textOf(smallFiles(outputs, blobs))).toBe(told('one') + told('two') + told('three'))
})

test('large files, directories and what is gone are left out', async () => {
  const large = 'x'.repeat(64 * 1024 + 1)
  const blobs = await storeWith('here', large)
  const folder = { class: 'Directory', location: treeLocation(digest('here')) }
  expect(await textOf(smallFiles([file('gone'), file(large), folder, file('')], blobs))).toBe('')
  expect(await textOf(smallFiles([file('gone'), file('here'), file(large)], blobs))).toBe(told('here'))
})

test('many files come in many pieces', async () => {
  const texts = Array.from({ length: 1200 }, (_, at) => `file ${at} ${'.'.repeat(500)}`)
  const blobs = await storeWith(...texts)
  expect(await textOf(smallFiles(texts.map(file), blobs))).toBe(texts.map(told).join(''))
})
