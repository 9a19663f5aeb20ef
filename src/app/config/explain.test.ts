import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { configSchema, FIELDS } from './config.ts'
import { configurationPage, explainConfig, explainedFields, showConfig } from './explain.ts'
import { loadConfig } from './load.ts'
import { pickFields, type Table } from './table.ts'

const defaults = loadConfig({ env: {}, home: '/home/ada' })

test('--explain prints a TOML file that sets every default', () => {
  const explained: Table = parse(explainConfig())
  for (const { key, standard, form } of FIELDS) {
    if (standard !== undefined && form !== 'map') expect(pickFields(explained, key), key).toEqual(standard)
  }
  const parsed = configSchema.parse({
    ...explained,
    server: { ...Object(explained.server), data_dir: '/home/ada/.local/share/windlass' },
  })
  expect(parsed).toEqual(defaults.config)
})

test('every field has a sentence, and a default or a description of the default', () => {
  for (const { key, meaning, standard, otherwise } of FIELDS) {
    expect(meaning, key).toMatch(/^[A-Z].{10,110}\.$/)
    expect(standard !== undefined || otherwise !== undefined, key).toBe(true)
  }
})

test('no two fields share an environment variable', () => {
  expect(new Set(FIELDS.map(({ variable }) => variable)).size).toBe(FIELDS.length)
})

test('explainedFields has the same fields as JSON', () => {
  expect(explainedFields()).toContainEqual({
    key: 'log.format',
    default: 'auto',
    meaning: 'Format of log lines on standard error; auto is pretty on a terminal and JSON elsewhere.',
    choices: ['auto', 'pretty', 'json'],
    variable: 'WINDLASS_LOG_FORMAT',
    reloads: false,
  })
})

test('showConfig prints TOML, with the origin of each value that is no default', () => {
  const loaded = loadConfig({
    env: { WINDLASS_LOG_LEVEL: 'warn', WINDLASS_WORKER_PLATFORM: 'OSFamily=Linux' },
    home: '/home/ada',
    flags: [{ flag: '--http', key: 'server.http_address', value: '127.0.0.1:0' }],
  })
  const shown = showConfig(loaded)
  expect(shown).toContain('\nlevel = "warn"  # from WINDLASS_LOG_LEVEL\n')
  expect(shown).toContain('\nhttp_address = "127.0.0.1:0"  # from --http\n')
  expect(shown).toContain('\nOSFamily = "Linux"  # from WINDLASS_WORKER_PLATFORM\n')
  expect(shown).toContain('\n# cert_file is not set: no TLS\n')
  expect(shown.match(/# from /g)).toHaveLength(3)
  expect(configSchema.parse(parse(shown))).toEqual(loaded.config)
})

test('docs/guide/configuration.md equals the output of --explain (vitest -u writes it)', async () => {
  await expect(configurationPage()).toMatchFileSnapshot('../../../docs/guide/configuration.md')
})
