import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { FIELDS } from './config.ts'
import { type ConfigSources, type LoadedConfig, loadConfig } from './load.ts'
import { pickFields } from './table.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'windlass.toml')

function load(toml: string, more: Partial<ConfigSources> = {}): LoadedConfig {
  writeFileSync(file, toml)
  return loadConfig({ file, env: {}, home: '/home/ada', ...more })
}

function complaints(toml: string, more: Partial<ConfigSources> = {}): string[] {
  try {
    load(toml, more)
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'invalid')
      return error.fault.what.replaceAll(file, 'FILE').split('\n')
    throw error
  }
  return []
}

test('a worker is lost after three missed heartbeats: a shorter heartbeat_timeout_seconds is refused', () => {
  const short = '[execution.scheduler]\nheartbeat_timeout_seconds = 29\n'
  expect(complaints(short)).toEqual([
    'FILE: execution.scheduler.heartbeat_timeout_seconds: 29 is less than three heartbeats of a worker, which sends one ' +
      'every 10 s (worker.heartbeat_interval_seconds): set at least 30, or a shorter interval',
  ])
  expect(complaints(`${short}[worker]\nheartbeat_interval_seconds = 9.5\n`)).toEqual([])
  expect(complaints('[worker]\nheartbeat_interval_seconds = 41\n')[0]).toContain('set at least 123')
})

describe('sources of a value', () => {
  test('the defaults listen only on this machine', () => {
    const { config, origins, notes } = loadConfig({ env: {}, home: '/home/ada' })
    expect(config.server).toMatchObject({ address: '127.0.0.1:8980', http_address: '127.0.0.1:8080', insecure: false })
    expect(config.server.data_dir).toBe('/home/ada/.local/share/windlass')
    expect([origins.size, notes]).toEqual([0, []])
  })

  test('the data directory is below XDG_DATA_HOME', () => {
    expect(loadConfig({ env: { XDG_DATA_HOME: '/data' }, home: '/' }).config.server.data_dir).toBe('/data/windlass')
  })

  test('flags override variables, variables the file, and the file the defaults', () => {
    const { config, origins } = load(
      '[server]\naddress = "127.0.0.1:1"\nhttp_address = "127.0.0.1:2"\ndrain_seconds = 3',
      {
        env: { WINDLASS_SERVER_ADDRESS: '127.0.0.1:11', WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:12' },
        flags: [{ flag: '--grpc', key: 'server.address', value: '127.0.0.1:21' }],
      },
    )
    expect(config.server).toMatchObject({ address: '127.0.0.1:21', http_address: '127.0.0.1:12', drain_seconds: 3 })
    expect(Object.fromEntries(origins)).toEqual({
      'server.address': '--grpc',
      'server.http_address': 'WINDLASS_SERVER_HTTP_ADDRESS',
      'server.drain_seconds': file,
    })
  })

  test('variables are parsed by the type of their field', () => {
    const { config } = load('', {
      env: {
        WINDLASS_SERVER_INSECURE: 'true',
        WINDLASS_SERVER_DRAIN_SECONDS: '2.5',
        WINDLASS_HTTP_ALLOWED_HOSTS: 'grid.example.com, grid:8080',
        WINDLASS_WORKER_PLATFORM: 'OSFamily=Linux,flags=a=b',
        WINDLASS_STORAGE_SPACES: 'apart=3, other=4',
        WINDLASS_LOG_LEVEL: '',
      },
    })
    expect(config.server).toMatchObject({ insecure: true, drain_seconds: 2.5 })
    expect(config.http.allowed_hosts).toEqual(['grid.example.com', 'grid:8080'])
    expect(config.worker.platform).toEqual({ OSFamily: 'Linux', flags: 'a=b' })
    expect(config.storage.spaces).toEqual({ apart: 3, other: 4 })
    expect(config.log.level).toBe('info')
  })

  test.each([
    ['[]', []],
    [' [] ', []],
    ['', []],
    [',', []],
    ['python, c++', ['python', 'c++']],
    [undefined, undefined],
  ])('WINDLASS_WORKER_LANGUAGES=%j sets the languages of a worker', (text, languages) => {
    const env = text === undefined ? {} : { WINDLASS_WORKER_LANGUAGES: text }
    expect(load('', { env }).config.worker.languages).toEqual(languages)
  })

  test('an empty variable does not change a list from the file', () => {
    const env = { WINDLASS_HTTP_ALLOWED_HOSTS: '' }
    expect(load('[http]\nallowed_hosts = ["grid"]', { env }).config.http.allowed_hosts).toEqual(['grid'])
  })

  test('unknown WINDLASS_ variables are noted and not refused; known ones that are no settings are ignored', () => {
    const env = { WINDLASS_SERVER_ADRESS: 'x', WINDLASS_HOME_PAGE: 'y', WINDLASS_SEED: '1', WINDLASS_REQUIRE: 'docker' }
    const keys = ['WINDLASS_HOME_PAGE', 'WINDLASS_SERVER_ADRESS (did you mean WINDLASS_SERVER_ADDRESS?)']
    expect(load('', { env }).notes).toEqual([{ level: 'info', what: 'unknown WINDLASS_* environment variables', keys }])
  })
})

describe('relative paths', () => {
  const paths = FIELDS.filter(({ holdsPath }) => holdsPath === true)

  test('every setting that names a file or a directory is marked as a path', () => {
    const looksLikeOne = FIELDS.filter(({ key, form }) => form === 'string' && /(_dir|_file|address|url)$/.test(key))
    expect(looksLikeOne.map(({ key }) => key)).toEqual(paths.map(({ key }) => key))
  })

  test.each(paths)('a relative path of $key becomes absolute', ({ key, variable }) => {
    const isAddress = /(address|url)$/.test(key)
    const [given, absolute] = isAddress
      ? ['unix:some/where', `unix:${resolve('some/where')}`]
      : ['some/where', resolve('some/where')]
    const pair = ['CERT', 'KEY'].find((word) => variable.includes(`${word}_FILE`))
    const other = pair === undefined ? variable : variable.replace(pair, pair === 'CERT' ? 'KEY' : 'CERT')
    const chain = variable.includes('CLIENT_CA')
      ? { WINDLASS_SERVER_TLS_CERT_FILE: 'c', WINDLASS_SERVER_TLS_KEY_FILE: 'k' }
      : {}
    const { config } = loadConfig({ env: { ...chain, [variable]: given, [other]: given }, home: '/' })
    expect(pickFields(config, key)).toBe(absolute)
  })
})

describe('refused settings', () => {
  test('an unknown key is refused, with the nearest known key', () => {
    expect(complaints('[server]\nadress = "127.0.0.1:1"')).toEqual([
      'FILE: server.adress is not a known key; did you mean server.address?',
    ])
    expect(complaints('[sevrer]\naddress = "127.0.0.1:1"')).toEqual([
      'FILE: sevrer is not a known key; did you mean server?',
    ])
    expect(complaints('quux = 1')).toEqual(['FILE: quux is not a known key; see windlass config --explain'])
  })

  test('a value of the wrong type is refused, with the expected type and the value', () => {
    const toml =
      '[server]\ndrain_seconds = "10"\ninsecure = 1\n[http]\nallowed_hosts = "a"\n[log]\nlevel = "loud"\nformat = 1979-05-27'
    expect(complaints(toml)).toEqual([
      'FILE: server.insecure: expected true or false, found the number 1',
      'FILE: server.drain_seconds: expected a number, found the string "10"',
      'FILE: http.allowed_hosts: expected a list, found the string "a"',
      'FILE: log.level: expected one of "debug", "info", "warn", "error", found the string "loud"',
      'FILE: log.format: expected one of "auto", "pretty", "json", found a date',
    ])
  })

  test('a value out of range, an empty name and a fraction for a whole number are refused', () => {
    const toml =
      '[server]\ndrain_seconds = -1\ndata_dir = ""\n[grpc]\nmax_concurrent_streams = 1.5\nmax_message_bytes = 4294967296'
    expect(complaints(toml)).toEqual([
      'FILE: server.data_dir: expected some text, found an empty string',
      'FILE: server.drain_seconds: expected at least 0, found the number -1',
      'FILE: grpc.max_message_bytes: expected at most 2147483647, found the number 4294967296',
      'FILE: grpc.max_concurrent_streams: expected a whole number, found the number 1.5',
    ])
  })

  test('an error about a variable or a flag names it', () => {
    expect(complaints('', { env: { WINDLASS_SERVER_DRAIN_SECONDS: 'soon' } })).toEqual([
      'WINDLASS_SERVER_DRAIN_SECONDS: server.drain_seconds: expected a number, found the string "soon"',
    ])
    expect(complaints('', { flags: [{ flag: '--grpc', key: 'server.address', value: '8980' }] })).toEqual([
      '--grpc: server.address: expected host:port, [ipv6]:port or unix:/path, found the string "8980"',
    ])
  })

  test('hosts, origins and TLS files that can never work are refused', () => {
    expect(complaints('[http]\nallowed_hosts = ["http://a"]\nallowed_origins = ["a"]')).toEqual([
      'FILE: http.allowed_hosts.0: expected a host name with an optional port, found the string "http://a"',
      'FILE: http.allowed_origins.0: expected an origin such as https://ci.example.com, found the string "a"',
    ])
    expect(complaints('[server.tls]\ncert_file = "a.pem"')).toEqual([
      'FILE: server.tls: cert_file and key_file must be set together',
    ])
  })

  test('a scalar in place of a table is refused', () => {
    expect(complaints('server = 3')).toEqual(['FILE: server: expected a table, found the number 3'])
  })

  test('a file that is not TOML, or is missing, is refused', () => {
    expect(complaints('[server')[0]).toMatch(/^cannot read FILE: .+/)
    expect(complaints('', { file: join(folder, 'nowhere.toml') })[0]).toMatch(/nowhere\.toml: ENOENT/)
  })

  test('the key __proto__ is refused', () => {
    expect(complaints('[worker.platform]\n__proto__ = "x"')[0]).toMatch(/^cannot read FILE: /)
  })
})

describe('address that other machines can reach', () => {
  const open = '[server]\naddress = "0.0.0.0:8980"'

  test('the address is refused, with advice', () => {
    expect(complaints(open)).toEqual([
      'FILE: server.address = "0.0.0.0:8980" can be reached from other machines, and callers are not ' +
        'authenticated. If the network is trusted, add --insecure (or insecure = true under [server]); otherwise set ' +
        'client_ca_file under [server.tls], or listen on 127.0.0.1:8980',
    ])
    expect(complaints('', { flags: [{ flag: '--http', key: 'server.http_address', value: '[::]:80' }] })).toHaveLength(
      1,
    )
  })

  test('--insecure accepts the address, with a warning', () => {
    const { notes } = load(open, { flags: [{ flag: '--insecure', key: 'server.insecure', value: true }] })
    expect(notes).toEqual([
      {
        level: 'warn',
        what: 'server is reachable from other machines without access control',
        keys: ['server.address'],
      },
    ])
  })

  test('a client CA accepts the address, and TLS alone does not', () => {
    const tls = `${open}\n[server.tls]\ncert_file = "a"\nkey_file = "b"\n`
    expect(complaints(tls)).toHaveLength(1)
    expect(load(`${tls}client_ca_file = "c"`).notes).toEqual([])
  })
})
