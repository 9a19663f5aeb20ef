import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fileAddress, pathOfAddress } from './file-address.ts'
import { localFiles } from './local-files.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-files-')))
afterAll(() => rmSync(folder, { recursive: true }))
const [rooms, data] = [join(folder, 'rooms'), join(folder, 'data')]
for (const one of [rooms, data]) mkdirSync(one)
writeFileSync(join(data, 'in.txt'), 'input')
writeFileSync(join(data, 'secret'), 'secret')
writeFileSync(join(rooms, 'made'), 'made')

describe('local files', () => {
  const files = localFiles(rooms)
  files.admit(join(data, 'in.txt'))
  const stat = (path: string) => files.stat(fileAddress(path))

  test('a file made by a command has a checksum, and an input has none', async () => {
    const checksum = 'sha1$e572f95f9d1fad1088e43936931f12bbbbdbbb06'
    expect(await stat(join(rooms, 'made'))).toEqual({ class: 'File', size: 4, checksum })
    expect(await stat(join(data, 'in.txt'))).toEqual({ class: 'File', size: 5 })
  })

  test('a symlink in a room is followed only to rooms and inputs', async () => {
    symlinkSync(join(data, 'in.txt'), join(rooms, 'to-input'))
    symlinkSync('made', join(rooms, 'to-made'))
    symlinkSync(join(data, 'secret'), join(rooms, 'to-secret'))
    symlinkSync('nowhere', join(rooms, 'to-nowhere'))
    symlinkSync(data, join(rooms, 'to-data'))
    expect((await files.list(fileAddress(rooms))).map(({ basename }) => basename)).toEqual([
      'made',
      'to-input',
      'to-made',
    ])
    expect(await stat(join(rooms, 'to-secret'))).toBeUndefined()
    expect(await stat(join(rooms, 'to-data/secret'))).toBeUndefined()
    await expect(files.read(fileAddress(join(rooms, 'to-secret')), 10)).rejects.toThrow('is not there')
  })

  test('a pipe or a device is no file', async () => {
    execFileSync('mkfifo', [join(rooms, 'pipe')])
    expect(await stat(join(rooms, 'pipe'))).toBeUndefined()
    expect(await stat('/dev/zero')).toBeUndefined()
  })

  test('read returns at most the requested number of bytes', async () => {
    expect(Buffer.from(await files.read(fileAddress(join(data, 'in.txt')), 2)).toString()).toBe('in')
    expect(Buffer.from(await files.read(fileAddress(join(data, 'in.txt')), 1 << 20)).toString()).toBe('input')
  })
})

test.each(['/a b/c#d?e%/ü', '/', '/x/y'])('the path %s survives the conversion to a location and back', (path) => {
  expect(pathOfAddress(fileAddress(path))).toBe(path)
})

test.each(['http://host/x', 'file:relative', 'file:///a%00b', 'file:///%zz', 'file://elsewhere/x', ''])(
  '%s is no location of a local file',
  (location) => {
    expect(pathOfAddress(location)).toBeUndefined()
  },
)
