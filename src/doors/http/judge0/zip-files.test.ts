import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../../testing/random-source.ts'
import { zipFiles } from './zip-files.ts'
import { zipOf } from './zip-of.fixture.ts'

const LIMITS = { mostFiles: 10, mostBytes: 100_000 }
const refused = (words: RegExp) => expect.objectContaining({ message: expect.stringMatching(words) })

test('files are extracted, compressed or stored, and folders are omitted', async () => {
  const archive = zipOf(
    [
      { name: 'run', contents: 'echo 1\n' },
      { name: 'lib/', contents: '' },
      { name: 'lib/ä.txt', contents: 'x'.repeat(5000), isStored: true },
      { name: 'empty', contents: '' },
    ],
    'with a comment',
  )
  const files = await zipFiles(archive, LIMITS)
  expect(files.map(({ name, contents }) => [name, contents.length])).toEqual([
    ['run', 7],
    ['lib/ä.txt', 5000],
    ['empty', 0],
  ])
  expect(String(files[0]?.contents)).toBe('echo 1\n')
})

test("an archive written by Python's zipfile is read", async () => {
  const script = `
import io, sys, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('run', 'echo hi')
    z.writestr('data/x.bin', bytes(range(256)))
sys.stdout.buffer.write(out.getvalue())`
  const files = await zipFiles(execFileSync('python3', ['-c', script]), LIMITS)
  expect(files.map(({ name }) => name)).toEqual(['run', 'data/x.bin'])
  expect(files[1]?.contents).toEqual(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
})

test.each([
  ['nothing', Buffer.alloc(0), /not a zip/],
  ['no archive', Buffer.from('x'.repeat(1000)), /not a zip/],
  [
    'too many files',
    zipOf(Array.from({ length: 11 }, (_, i) => ({ name: `f${i}`, contents: '' }))),
    /more than 10 files/,
  ],
  ['a bomb', zipOf([{ name: 'zeros', contents: Buffer.alloc(1_000_000) }]), /too large/],
  ['a bomb that lies', zipOf([{ name: 'zeros', contents: Buffer.alloc(1_000_000), saidBytes: 100 }]), /broken/],
  [
    'small ones that are too much together',
    zipOf(['a', 'b', 'c'].map((name) => ({ name, contents: Buffer.alloc(40_000) }))),
    /too large/,
  ],
  ['a symlink', zipOf([{ name: 'l', contents: '/etc/passwd', mode: 0o120777 }]), /symlink/],
  ['a secret', zipOf([{ name: 's', contents: 'x', flags: 1 }]), /encrypted/],
])('%s is refused', async (_, archive, words) => {
  await expect(zipFiles(archive, LIMITS)).rejects.toEqual(refused(words))
})

test('files that share their bytes are refused', async () => {
  const one = zipOf([{ name: 'a', contents: 'x'.repeat(5000), isStored: true }])
  const [directoryAt, endAt] = [one.readUInt32LE(one.length - 6), one.length - 22]
  const entry = one.subarray(directoryAt, endAt)
  const end = Buffer.from(one.subarray(endAt))
  end.writeUInt16LE(3, 10)
  const shared = Buffer.concat([one.subarray(0, directoryAt), entry, entry, entry, end])
  await expect(zipFiles(shared, LIMITS)).rejects.toEqual(refused(/broken/))
})

const seed = seedOfRun()
test(`an archive with random damage is read or refused, never above mostBytes (seed ${seed})`, async () => {
  const random = randomFrom(seed)
  const whole = zipOf([
    { name: 'run', contents: 'echo 1\n'.repeat(50) },
    { name: 'other', contents: 'text', isStored: true },
  ])
  for (let round = 0; round < 500; round++) {
    const archive = Buffer.from(whole)
    for (let i = 0; i < 1 + random.below(4); i++) archive[random.below(archive.length)] = random.below(256)
    const files = await zipFiles(
      random.chance(0.1) ? archive.subarray(random.below(archive.length)) : archive,
      LIMITS,
    ).catch((error: Error) => {
      expect(error.name).toBe('FaultError')
      return []
    })
    expect(files.reduce((sum, { contents }) => sum + contents.length, 0)).toBeLessThanOrEqual(LIMITS.mostBytes)
  }
})
