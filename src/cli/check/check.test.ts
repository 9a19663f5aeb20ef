import { EventEmitter } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { BREAKS } from '../../check/reapi/broken/breaks.ts'
import { honest } from '../../check/reapi/broken/honest.ts'
import { EVERYTHING } from '../../check/reapi/broken/profile.ts'
import { type ScriptedServer, serve } from '../../check/reapi/broken/serve.ts'
import { BEHAVIOURS } from '../../check/reapi/table/behaviours.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { run } from '../program.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-check-'))
const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
  rmSync(folder, { recursive: true })
})

async function check(argv: readonly string[], isTerminal = false) {
  const out: string[] = []
  const err: string[] = []
  const terminal: Terminal = {
    env: {},
    home: folder,
    self: ['windlass'],
    platform: 'test',
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    signals: Object.assign(new EventEmitter(), { exit: () => {} }),
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  }
  return { code: await run(['check', 'reapi', ...argv], terminal), out: out.join(''), err: err.join('') }
}

/** A server that breaks one behaviour, or none; returns its address. */
async function started(broken?: keyof typeof BREAKS, more: Omit<ScriptedServer, 'timing'> = {}): Promise<string> {
  await prepareHashing()
  const right = honest(EVERYTHING)
  const methods = { ...right.methods, ...(broken === undefined ? {} : BREAKS[broken](right)) }
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const { server, address } = await serve(methods, { timing, ...more })
  closing.push(() => server.close())
  return 'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`
}

const QUICK = ['--only', 'find-missing.*']

describe('exit codes of windlass check', () => {
  test('a conforming server gives exit code 0, with a table', async () => {
    const { code, out, err } = await check(['--target', `grpc://${await started()}`, ...QUICK, '--seed', 'x'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^\nRemote Execution API 2\.0 to 2\.12 at grpc:\/\/127\.0\.0\.1:\d+ \(seed x\)\n/)
    expect(out).toMatch(/CAS\.FindMissingBlobs +9 +0 +0\n/)
  })

  test('a failed behaviour gives exit code 1, with the expected and the seen value', async () => {
    const { code, out, err } = await check(['--target', await started('find-missing.duplicates'), ...QUICK])
    expect([code, err]).toEqual([1, ''])
    expect(out).toContain('✗ find-missing.duplicates (should)\n')
    expect(out).toContain('expected reports: 1\n      saw      reports: 3\n')
  })

  test('--level must ignores a failed "should"', async () => {
    const target = await started('find-missing.duplicates')
    expect((await check(['--target', target, ...QUICK, '--level', 'must'])).code).toBe(0)
  })

  test('an unreachable server gives exit code 2, with advice', async () => {
    const { code, out, err } = await check(['--target', 'grpc://127.0.0.1:1'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(
      /^windlass: grpc:\/\/127\.0\.0\.1:1: GetCapabilities failed: UNAVAILABLE: .*\nwindlass: is a server running there\? .*--target names another\n$/,
    )
  })

  test.each([
    [[], '--target is needed'],
    [['--target', 'ftp://x'], '--target: ftp://x is none of'],
    [['--target', 'x:1', '--only', 'nothing'], '--only: no behaviour has such an id'],
    [['--target', 'x:1', '--jobs', 'many'], '--jobs: many is not a number above 0'],
    [['--target', 'x:1', '--deadline', '0'], '--deadline: 0 is not a number above 0'],
    [['--target', 'grpcs://x:1', '--ca', '/no/such/file'], '--ca: ENOENT'],
    [['--target', 'x:1', '--ca', import.meta.filename], '--ca, --cert and --key are for grpcs:// and https:// servers'],
    [['--target', 'x:1', '--header', 'nothing'], '--header: nothing is not name=value'],
    [['--target', 'x:1', '--platform', '=x'], '--platform: =x is not name=value'],
  ])('a wrong command line gives exit code 2: %j', async (argv, words) => {
    const { code, err } = await check(argv)
    expect(code).toBe(2)
    expect(err).toContain(words)
  })
})

describe('reports', () => {
  test('JSON and JUnit report the same results', async () => {
    const junit = join(folder, 'report.xml')
    const target = await started('find-missing.duplicates')
    const { code, out } = await check(['--target', target, ...QUICK, '--json', '--junit', junit, '--instance', 'main'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      suite: 'reapi',
      target,
      instance: 'main',
      summary: { passed: 8, failed: 1 },
    })
    expect(readFileSync(junit, 'utf8')).toContain('<testsuites name="reapi" tests="9" failures="1" skipped="0">')
  })

  test('a terminal gets the progress, and colours', async () => {
    const { out, err } = await check(['--target', await started(), ...QUICK], true)
    const lines = err.split('\r\u001b[K')
    expect(lines.at(-2)).toMatch(/^9\/9, 0 failed {2}find-missing\.[a-z-]+$/)
    expect(lines.at(-1)).toBe('')
    expect(out).toContain('\u001b[32m')
  })

  test('--list prints the behaviours, without a server', async () => {
    const { code, out } = await check(['--list'])
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(BEHAVIOURS.length)
    expect(out).toContain('must    A blob is returned completely.\n')
    expect(JSON.parse((await check(['--list', '--json', ...QUICK])).out)).toHaveLength(9)
  })

  test('--help has examples and exit codes', async () => {
    const { code, out } = await check(['--help'])
    expect(code).toBe(0)
    for (const part of ['Exit codes:', 'windlass check reapi --target grpc://127.0.0.1:8980'])
      expect(out).toContain(part)
  })
})

describe('connections of windlass check', () => {
  test('a socket file connects', async () => {
    const target = await started(undefined, { address: { path: join(folder, 'cache.sock') } })
    expect((await check(['--target', target, ...QUICK])).code).toBe(0)
  })

  test('TLS with a client certificate connects, and without one gives exit code 2', async () => {
    const authority = createAuthority()
    const { cert, key } = authority.client('ada')
    const files = { ca: authority.ca, cert, key }
    const flags = Object.entries(files).flatMap(([name, text]) => {
      writeFileSync(join(folder, name), text)
      return [`--${name}`, join(folder, name)]
    })
    const address = await started(undefined, { tls: { ...authority.server(), clientCa: authority.ca } })
    const target = `grpcs://${address.replace('127.0.0.1', 'localhost')}`
    expect((await check(['--target', target, ...flags, ...QUICK])).code).toBe(0)
    expect((await check(['--target', target, ...QUICK])).code).toBe(2)
  })
})
