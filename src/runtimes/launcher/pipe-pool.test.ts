import { fchmodSync, fstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { type Pipe, pipePool } from './pipe-pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-pipes-'))
const pool = pipePool(folder)
afterAll(async () => {
  await pool.close()
  rmSync(folder, { recursive: true, force: true })
})

const pathOf = ({ theirs }: Pipe): string => readlinkSync(`/proc/self/fd/${theirs}`)

test('an open pipe has no name, and no pipe is used twice', async () => {
  const seen = new Set<string>()
  for (let i = 0; i < 300; i++) {
    const pipe = i % 2 === 0 ? pool.forOutput() : pool.forInput()
    const path = pathOf(pipe)
    expect(path).toMatch(/ \(deleted\)$/)
    seen.add(path)
    fchmodSync(pipe.theirs, 0)
    pipe.finish()
  }
  expect(seen.size).toBe(300)
})

test('bytes left unread in one pipe are not read from another', async () => {
  const input = pool.forInput()
  input.ours.write('never read')
  input.finish()
  const output = pool.forOutput()
  writeSync(output.theirs, 'mine')
  output.started()
  expect(await text(output.ours)).toBe('mine')
  output.finish()
})

test('pipes are created ahead of need, and all are removed when the pool is closed', async () => {
  const other = mkdtempSync(join(tmpdir(), 'windlass-pipes-'))
  const brief = pipePool(other)
  const pipes = Array.from({ length: 100 }, () => brief.forOutput())
  expect(new Set(pipes.map(({ theirs }) => fstatSync(theirs).ino)).size).toBe(100)
  for (const pipe of pipes) pipe.finish()
  await brief.close()
  expect(readdirSync(other)).toEqual([])
  rmSync(other, { recursive: true })
})
