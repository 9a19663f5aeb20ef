import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { redirected } from './redirected.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-redirected-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string): string => join(folder, name)
const run = ([program = '', ...words]: readonly string[]) => spawnSync(program, words, { encoding: 'utf8' })

test('without redirections the command is unchanged', () => {
  expect(redirected(['echo', 'hi'], {})).toEqual(['echo', 'hi'])
})

test('each stream is redirected to its file, whatever characters its name and the arguments have', () => {
  writeFileSync(at('in $(x) "y"'), 'given')
  const script = 'cat; printf "%s." "$@" >&2; exit 7'
  const argv = ['sh', '-c', script, 'sh', '$HOME', '', '-n', 'a b']
  const streams = { stdin: at('in $(x) "y"'), stdout: at("o'ut;"), stderr: at('-err') }
  const { status, stdout, stderr } = run(redirected(argv, streams))
  expect([status, stdout, stderr]).toEqual([7, '', ''])
  expect(readFileSync(streams.stdout, 'utf8')).toBe('given')
  expect(readFileSync(streams.stderr, 'utf8')).toBe('$HOME..-n.a b.')
})

test('stdout and stderr may be one file, in the order of writing', () => {
  run(redirected(['sh', '-c', 'echo 1; echo 2 >&2; echo 3'], { stdout: at('both'), stderr: at('both') }))
  expect(readFileSync(at('both'), 'utf8')).toBe('1\n2\n3\n')
})

test('a command whose stdin cannot be read is not started', () => {
  const { status } = run(redirected(['touch', at('started')], { stdin: at('nothing') }))
  expect(status).not.toBe(0)
  expect(() => readFileSync(at('started'))).toThrow()
})
