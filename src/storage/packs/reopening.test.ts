import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hashOf } from '../../base/hashing/hash-of.ts'
import { randomFrom } from '../../testing/random-source.ts'
import { bytesOf, digestOf, holds, listOf, putOne, upload } from '../blobs.fixture.ts'
import { tagOf } from '../index/tag.ts'
import { forgetfulFiles } from './forgetful-files.fixture.ts'
import { nodeFiles } from './node-files.ts'
import { openOn } from './pack-store.fixture.ts'
import { VALUE_SPACE } from './proof.ts'
import { BlockChecks, headerBytes, recordBytes, sealHeader, tailBytes, writeHeader } from './record-format.ts'

const random = randomFrom(42)

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'windlass-packs-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('a reopened store has the blobs of every space and size, and the newest values', async () => {
  const path = folder()
  const { store } = await openOn(nodeFiles(path, 1))
  const blobs = [100, 5000, 50_000, 500_000].map((size) => random.bytes(size))
  for (const bytes of blobs) await putOne(store.space(0), bytes)
  const other = await putOne(store.space(7), Buffer.from('in space 7'))
  await store.values().put(Buffer.alloc(32, 1), Buffer.from('first'))
  await store.values().put(Buffer.alloc(32, 1), Buffer.from('second'))
  await store.close()
  const { store: again, heard } = await openOn(nodeFiles(path, 1))
  for (const bytes of blobs) expect((await bytesOf(again.space(0), digestOf(bytes)))?.equals(bytes)).toBe(true)
  expect(await holds(again.space(0), other)).toBe(false)
  expect(await bytesOf(again.space(7), other)).toEqual(Buffer.from('in space 7'))
  expect(await again.values().get(Buffer.alloc(32, 1))).toEqual(Buffer.from('second'))
  expect(heard).toEqual([])
  await again.close()
})

test('a store that was not closed is recovered at opening, with all acknowledged blobs', async () => {
  const files = forgetfulFiles()
  const { store } = await openOn(files)
  const blobs = Array.from({ length: 50 }, () => random.bytes(random.below(40_000)))
  for (const bytes of blobs) await putOne(store.space(0), bytes)
  const { store: again, heard } = await openOn(files.afterKill())
  for (const bytes of blobs) expect((await bytesOf(again.space(0), digestOf(bytes)))?.equals(bytes)).toBe(true)
  expect(heard).toEqual(['recovered'])
})

test('a second server is refused with the process id of the first, until the first has closed', async () => {
  const path = folder()
  const { store } = await openOn(nodeFiles(path, 4711))
  await expect(openOn(nodeFiles(path, 4712))).rejects.toThrow('is in use by process 4711')
  await store.close()
  const { store: next } = await openOn(nodeFiles(path, 4712))
  await next.close()
})

test('the lock of a killed process is taken over', async () => {
  const path = folder()
  const lock = join(import.meta.dirname, 'folder-lock.ts')
  const script = `const { holdFolder } = await import(${JSON.stringify(lock)})
    holdFolder(${JSON.stringify(path)}, process.pid); process.kill(process.pid, 'SIGKILL')`
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL')
  const { store } = await openOn(nodeFiles(path, 1))
  await store.close()
})

test('the file of an upload interrupted by a crash is deleted at opening', async () => {
  const files = forgetfulFiles()
  const { store } = await openOn(files)
  const bytes = random.bytes(3_000_000)
  const writer = store.space(0).write(digestOf(bytes), 'identity')
  await writer.write(bytes)
  expect(files.paths().filter((path) => path.startsWith('incoming/'))).toHaveLength(1)
  const next = files.afterKill()
  const { store: again } = await openOn(next)
  expect(next.paths().filter((path) => path.startsWith('incoming/'))).toEqual([])
  await upload(again.space(0), { digest: digestOf(bytes), bytes })
  expect((await bytesOf(again.space(0), digestOf(bytes)))?.equals(bytes)).toBe(true)
})

test('a journal with mostly outdated entries is rewritten during operation', async () => {
  const files = forgetfulFiles()
  const { store, clock } = await openOn(files)
  const names = Array.from({ length: 50 }, (_, i) => Buffer.alloc(32, i))
  const journalBytes = () => files.bytesOf('index/journal')?.length ?? 0
  let longest = 0
  for (let round = 0; journalBytes() >= longest; round++) {
    expect(round, 'the journal only grows').toBeLessThan(40)
    longest = journalBytes()
    await Promise.all(
      Array.from({ length: 10_000 }, (_, i) =>
        store.values().put(names[i % 50] as Buffer, Buffer.from(`round ${round} value ${i % 50}`)),
      ),
    )
    clock.advance(5000)
    const last = store.values().put(names[0] as Buffer, Buffer.from(`round ${round} last`))
    for (let i = 0; i < 200; i++) await new Promise<void>((resolve) => setImmediate(resolve))
    await last
  }
  const { store: again } = await openOn(files.afterKill())
  expect((await again.values().get(names[0] as Buffer))?.toString()).toMatch(/round \d+ last/)
  expect((await again.values().get(names[49] as Buffer))?.toString()).toMatch(/round \d+ value 49/)
  expect(again.figures().blobs).toBe(50)
})

test('blobs are read from packs that were closed because of maxOpenFiles', async () => {
  const path = folder()
  const { store } = await openOn(nodeFiles(path, 1), { maxOpenFiles: 4 })
  const blobs = Array.from({ length: 40 }, () => random.bytes(30_000))
  for (const bytes of blobs) await putOne(store.space(0), bytes)
  for (const bytes of [...blobs, ...blobs]) {
    expect((await bytesOf(store.space(0), digestOf(bytes)))?.equals(bytes)).toBe(true)
  }
  await store.space(0).writeMany(listOf([]), [])
  await store.close()
})

test('after recovery the newer of two values with one name counts, in either order of their records', async () => {
  const name = Buffer.alloc(32, 9)
  const key = { tag: tagOf(VALUE_SPACE, 'sha256'), hash: name, at: 0, width: 32, size: 0 }
  const record = (text: string, pack: number, unit: number): Buffer => {
    const payload = Buffer.concat([hashOf('sha256', Buffer.from(text)), Buffer.from(text)])
    const bytes = Buffer.alloc(recordBytes(32, payload.length))
    writeHeader(bytes, 0, key, 'identity', payload.length)
    sealHeader(bytes, 0, pack, unit)
    payload.copy(bytes, headerBytes(32))
    const checks = new BlockChecks()
    checks.update(payload)
    const tail = tailBytes(32, payload.length)
    checks.writeTail(bytes, bytes.length - tail, tail)
    return bytes
  }
  for (const order of [
    ['old', 'new'],
    ['new', 'old'],
  ]) {
    const files = forgetfulFiles()
    const pieces = order.map((text) => record(text, text === 'old' ? 1 : 2, 0))
    await files.open('packs/00000002.pack', 'new').write(pieces, 0)
    const { store } = await openOn(files)
    expect((await store.values().get(name))?.toString()).toBe('new')
  }
})
