import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterAll, describe, expect, test } from 'vitest'
import { FIELDS } from '../app/config/config.ts'
import { loadConfig } from '../app/config/load.ts'
import type { Terminal } from '../app/process/terminal.ts'
import { version } from '../app/process/version.ts'
import { run } from './program.ts'
import { SETTING_FLAGS } from './server/setting-flags.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function windlass(...argv: string[]) {
  const out: string[] = []
  const err: string[] = []
  const terminal: Terminal = {
    env: {},
    home: '/home/ada',
    self: ['windlass'],
    platform: 'Node 24.0.0, linux x64',
    outIsTerminal: false,
    errIsTerminal: false,
    signals: Object.assign(new EventEmitter(), { exit: () => {} }),
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  }
  return { code: await run(argv, terminal), out: out.join(''), err: err.join('') }
}

/** The names of the sub-commands in a command's help. */
async function commandsBelow(argv: readonly string[]): Promise<string[][]> {
  const [, list = ''] = /\nCommands:\n((?: .*\n)+)/.exec((await windlass(...argv, '--help')).out) ?? []
  const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  const below = await Promise.all(names.map((name) => commandsBelow([...argv, name])))
  return [...names.map((name) => [...argv, name]), ...below.flat()]
}

describe('help', () => {
  test('without arguments, all commands are listed', async () => {
    const { code, out } = await windlass()
    expect(code).toBe(0)
    for (const name of ['server', 'config', 'version']) expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
  })

  test.each([['--help'], ['help']])('%s prints the same help', async (word) => {
    expect(await windlass(word)).toEqual({ ...(await windlass()), code: 0 })
  })

  test.each([
    [['server', '--help'], '--grpc <address>'],
    [['help', 'server'], 'windlass server --grpc unix:/run/windlass.sock'],
    [['help', 'config'], 'windlass config --explain > windlass.toml'],
  ])('%j prints flags and examples', async (argv, part) => {
    const { code, out, err } = await windlass(...argv)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(part)
  })

  test('the setting flags are exactly those in the reference of settings', () => {
    const given = SETTING_FLAGS.map(({ flag, key }) => [key, flag])
    const explained = FIELDS.flatMap(({ key, flag }) => (flag === undefined ? [] : [[key, flag]]))
    expect(explained.sort()).toEqual([...given, ['log.level', '--verbose (debug)']].sort())
  })

  test('help states the real defaults', async () => {
    const { out } = await windlass('server', '--help')
    const { server, worker } = loadConfig({ env: {}, home: '/home/me' }).config
    expect(out).toContain(`(${server.address})`)
    expect(out).toContain(`(${server.http_address})`)
    expect(out).toContain(`(${server.data_dir.replace('/home/me', '~')})`)
    expect((await windlass('worker', 'daemon', '--help')).out).toContain(worker.server_url.replace('http:', 'grpc:'))
  })

  test('every command and sub-command has examples', async () => {
    const words = await commandsBelow([])
    expect(words).toContainEqual(['cas', 'put'])
    for (const argv of words) expect((await windlass(...argv, '--help')).out, argv.join(' ')).toContain('\nExamples:\n')
  })
})

describe('wrong command lines', () => {
  test('an unknown command is answered with the nearest, in one line', async () => {
    const err = "windlass: unknown command 'sevrer'; did you mean server? (windlass --help)\n"
    expect(await windlass('sevrer')).toEqual({ code: 2, out: '', err })
  })

  test('an unknown flag is answered with the nearest, in one line', async () => {
    const err = "windlass: unknown option '--grcp'; did you mean --grpc? (windlass server --help)\n"
    expect(await windlass('server', '--grcp', '127.0.0.1:0')).toEqual({ code: 2, out: '', err })
  })

  test.each([
    [['cas', 'put', '--quite', 'x'], "unknown option '--quite'; did you mean --quiet? (windlass cas put --help)"],
    [['help', 'sevrer'], "unknown command 'sevrer'; did you mean server? (windlass --help)"],
    [['cas', 'putt'], "unknown command 'putt'; did you mean put? (windlass cas --help)"],
    [['languages', 'tset'], "unknown command 'tset'; did you mean test? (windlass languages --help)"],
    [['languages', 'build', 'pyton'], 'there is no language "pyton"; did you mean python?'],
    [['cwl', 'run'], "missing required argument 'process' (windlass cwl run --help)"],
  ])('%j is refused, with the command that prints its help', async (argv, words) => {
    expect(await windlass(...argv)).toEqual({ code: 2, out: '', err: `windlass: ${words}\n` })
  })

  test('a flag without its value, and extra arguments, end with exit code 2', async () => {
    expect(await windlass('server', '--grpc')).toMatchObject({ code: 2, out: '' })
    expect(await windlass('server', 'now')).toMatchObject({ code: 2, out: '' })
  })

  test('a wrong setting prints one line without a stack', async () => {
    const { code, err } = await windlass('server', '--grpc', '0.0.0.0:8980')
    expect(code).toBe(2)
    expect(err).toMatch(/^windlass: --grpc: server\.address = "0\.0\.0\.0:8980" .*--insecure.*\n$/)
  })

  test('--verbose prints the stack', async () => {
    expect((await windlass('config', '--grpc', 'nonsense', '--verbose')).err).toMatch(/\n {4}at .*config.load/)
  })

  test('each wrong setting prints its own line', async () => {
    const file = join(folder, 'wrong.toml')
    writeFileSync(file, '[server]\nadress = 1\n[log]\nlevel = 2\n')
    const { code, err } = await windlass('config', '--config', file)
    expect(code).toBe(2)
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^windlass: .*did you mean server\.address\?$/),
      expect.stringMatching(/^windlass: .*log\.level: expected one of .* found the number 2$/),
    ])
  })
})

describe('config', () => {
  test('--explain prints TOML, and --json the same fields as JSON', async () => {
    expect(parse((await windlass('config', '--explain')).out)).toHaveProperty('server.address', '127.0.0.1:8980')
    expect(JSON.parse((await windlass('config', '--explain', '--json')).out)).toHaveLength(FIELDS.length)
  })

  test('values from a file are shown with their origin', async () => {
    const file = join(folder, 'right.toml')
    writeFileSync(file, '[log]\nlevel = "warn"\n[worker.host]\nuse_sandbox = false\n')
    const { code, out, err } = await windlass('config', '--config', file)
    expect(code).toBe(0)
    expect(out).toContain(`level = "warn"  # from ${file}`)
    expect(err).toBe('')
  })

  test('--json prints values, origins and notes', async () => {
    const { out } = await windlass('config', '--json', '--insecure', '--http', '0.0.0.0:80')
    expect(JSON.parse(out)).toMatchObject({
      config: { server: { http_address: '0.0.0.0:80', data_dir: '/home/ada/.local/share/windlass' } },
      origins: { 'server.http_address': '--http', 'server.insecure': '--insecure' },
      notes: [{ level: 'warn', keys: ['server.http_address'] }],
    })
  })
})

test('version prints the platform, --version only the number', async () => {
  expect((await windlass('version')).out).toBe(`windlass ${version()} (Node 24.0.0, linux x64)\n`)
  expect(await windlass('--version')).toEqual({ code: 0, out: `${version()}\n`, err: '' })
})
