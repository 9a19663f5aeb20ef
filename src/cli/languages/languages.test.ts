import { EventEmitter } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Terminal } from '../../app/process/terminal.ts'
import { describeWith } from '../../testing/require.ts'
import { run } from '../program.ts'

const data = mkdtempSync(join(tmpdir(), 'windlass-languages-'))
afterAll(() => rmSync(data, { recursive: true }))

async function windlass(...argv: string[]) {
  const out: string[] = []
  const err: string[] = []
  const terminal: Terminal = {
    ...{ env: {}, home: data, self: ['windlass'], platform: 'test', outIsTerminal: false, errIsTerminal: true },
    signals: Object.assign(new EventEmitter(), { exit: () => {} }),
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  }
  const code = await run(['languages', ...argv], terminal)
  return { code, out: out.join(''), err: err.join('') }
}

test.each([
  [['--help'], 'windlass languages test python c++'],
  [['build', '--help'], 'windlass languages build python-data'],
])('%j prints examples', async (argv, part) => {
  const { code, out } = await windlass(...argv)
  expect([code, out.includes(part)]).toEqual([0, true])
})

test.each([
  [['test', 'klingon'], 'there is no language "klingon"'],
  [['build', 'python', '--packages', 'a;b'], 'is not a package name'],
  [['build', 'python', '--packages', '--as=x'], 'is not a package name'],
  [['build', 'python', '--packages', 'a', '--from', '/x'], 'one or the other'],
  [['build', 'python', '--as', 'Py Thon', '--packages', 'a'], 'is no name'],
  [['build', 'python', '--as', 'ruby', '--packages', 'a'], 'there is a language ruby already'],
  [['build', 'python', '--as', 'other'], 'name its packages'],
  [['build', 'python-data', '--as', 'other', '--packages', 'a'], 'is made of another language'],
  [['build', 'python', '--from', '/no/such/folder'], 'is no folder'],
  [['--backend', 'moon'], 'worker.backend'],
  [['build'], "missing required argument 'name'"],
])('%j prints an error and exits with 2', async (argv, words) => {
  const { code, err } = await windlass(...argv, '--data', data)
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})

describeWith('bwrap', 'windlass languages test', () => {
  beforeAll(() => {
    mkdirSync(join(data, 'languages'))
    const broken = 'extends = "bash"\nname = "broken"\n[self_test]\nstdout = "something else\\n"'
    writeFileSync(join(data, 'languages/broken.toml'), broken)
    writeFileSync(join(data, 'languages/gone.toml'), 'extends = "bash"\nname = "gone"\n[probe]\nprograms = ["no-such"]')
  })

  test('a language is tested in a room, and its result is stored', async () => {
    const { code, out, err } = await windlass('test', 'bash', '--data', data)
    expect([code, out]).toEqual([0, expect.stringMatching(/^bash +\d+\.\S+ +yes +passed +\d+ ms +apt install bash$/m)])
    expect(err).toContain('testing languages in rooms of the')
    const { out: again } = await windlass('test', 'sh', '--json', '--data', data)
    const { runtime, languages } = JSON.parse(again)
    expect(['sandbox', 'unshare']).toContain(runtime)
    expect(languages).toMatchObject([{ name: 'bash', outcome: 'passed', debian: ['bash'], aliases: ['sh', 'shell'] }])
  })

  test('a language that fails or is absent gives exit code 1, with the reason', async () => {
    const { code, out } = await windlass('test', 'broken', 'gone', '--data', data)
    expect(code).toBe(1)
    expect(out).toMatch(/^broken +\d\S* +yes +failed/m)
    expect(out).toMatch(/^gone +no/m)
    expect(out).toContain('broken: it printed "Hello, windlass\\n" in place of "something else\\n"')
  })
})
