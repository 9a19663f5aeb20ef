import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { noteFromBytes } from './recorded-request.ts'
import { noteToBytes, type SnippetNote } from './snippet-note.ts'

const FULL: SnippetNote = {
  language: 'python',
  wanted: '^3',
  version: '3.11.2',
  files: ['main.py', 'lib/ä.py'],
  args: ['', 'two words'],
  env: [['LANG', 'C']],
  compileLimits: { wallMs: 500 },
  runLimits: { memoryBytes: 1, cpus: 0.5 },
  expected: '42\n',
  expectedHash: 'ab',
  metadata: { user: 'u', constructor: 'c' },
  callback: { url: 'https://example.com/', secret: undefined },
  key: 'k',
  request: 'hash',
  priority: -3,
  invocation: 'group',
  isolation: 'sandbox',
  interactive: { pty: { rows: 24, columns: 80 } },
}
const LEAST: SnippetNote = {
  ...Object.fromEntries(Object.keys(FULL).map((key) => [key, undefined])),
  language: 'c',
  files: ['main.c'],
  args: [],
  env: [],
  compileLimits: {},
  runLimits: {},
  metadata: {},
} as unknown as SnippetNote

test.each([
  ['full', FULL],
  ['least', LEAST],
])('a %s note is decoded equal', (_, note) => {
  expect(noteFromBytes(noteToBytes(note))).toEqual(note)
})

test('a note with default values takes fewer than 50 bytes', () => {
  expect(noteToBytes(LEAST).length).toBeLessThan(50)
})

test('a note above 64 KiB is refused as invalid', () => {
  const metadata = { text: 'x'.repeat(64 * 1024) }
  expect(() => noteToBytes({ ...FULL, metadata })).toThrow(
    expect.objectContaining({ fault: expect.objectContaining({ kind: 'invalid' }) }),
  )
})

const seed = seedOfRun()
test(`a note with random damage is decoded or gives undefined (seed ${seed})`, () => {
  const random = randomFrom(seed)
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(noteToBytes(FULL))
    for (let i = 0; i < 1 + random.below(4); i++) bytes[random.below(bytes.length)] = random.below(256)
    const note = noteFromBytes(random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes)
    if (note !== undefined) expect([typeof note.language, Array.isArray(note.files)]).toEqual(['string', true])
  }
})
