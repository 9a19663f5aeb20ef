import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { type Pipe, pipePool } from './pipe-pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-pipes-'))
const pool = pipePool(folder)
afterAll(() => {
  pool.close()
  rmSync(folder, { recursive: true, force: true })
})

const pathOf = ({ theirs }: Pipe): string => readlinkSync(`/proc/self/fd/${theirs}`)

async function finished(pipe: Pipe): Promise<void> {
  const closed = once(pipe.ours, 'close')
  pipe.finish(true)
  await closed
}

/** What comes out of the next output, when `word` is all that was written to it. */
async function nextOutput(word: string): Promise<{ readonly path: string; readonly said: string }> {
  const pipe = pool.forOutput()
  const path = pathOf(pipe)
  writeSync(pipe.theirs, word)
  pipe.started()
  const said = await text(pipe.ours)
  pipe.finish(true)
  return { path, said }
}

test('a pipe that nobody has open is used again, without what was not read of it', async () => {
  const pipe = pool.forInput()
  const path = pathOf(pipe)
  pipe.ours.write('never read')
  await finished(pipe)
  expect(await nextOutput('mine')).toEqual({ path, said: 'mine' })
})

test('one that somebody still has open is not, whatever was said of it', async () => {
  const pipe = pool.forInput()
  const path = pathOf(pipe)
  const held = openSync(path, 'r')
  pipe.ours.write('of another run')
  await finished(pipe)
  const next = await nextOutput('mine')
  expect(next.said).toBe('mine')
  expect(next.path).not.toBe(path)
  expect(existsSync(path)).toBe(false)
  closeSync(held)
})

test('nor one that somebody could still write to', async () => {
  const pipe = pool.forOutput()
  const path = pathOf(pipe)
  const held = openSync(path, 'w')
  await finished(pipe)
  expect((await nextOutput('mine')).path).not.toBe(path)
  closeSync(held)
})
