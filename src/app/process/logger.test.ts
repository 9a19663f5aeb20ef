import { expect, test } from 'vitest'
import { createLogger, type LogSettings } from './logger.ts'

async function linesOf(
  settings: LogSettings,
  isTerminal: boolean,
  say: (log: Awaited<ReturnType<typeof createLogger>>) => void,
) {
  const lines: string[] = []
  say(await createLogger(settings, isTerminal, { write: (line) => void lines.push(line) }))
  return lines.join('')
}

test('format auto without a terminal logs JSON, with the level as a word and an ISO time', async () => {
  const text = await linesOf({ level: 'info', format: 'auto' }, false, (log) =>
    log.child({ task: 't1' }).info({ ms: 3 }, 'done'),
  )
  const line = JSON.parse(text)
  expect(line).toEqual({ level: 'info', time: expect.any(String), task: 't1', ms: 3, msg: 'done' })
  expect(new Date(line.time).toISOString()).toBe(line.time)
})

test('format auto on a terminal logs readable text', async () => {
  const text = await linesOf({ level: 'info', format: 'auto' }, true, (log) => log.warn({ keys: ['a'] }, 'careful'))
  expect(text).toContain('careful')
  expect(text).not.toContain('"msg"')
})

test('format json logs JSON on a terminal, and format pretty logs text without one', async () => {
  expect(await linesOf({ level: 'info', format: 'json' }, true, (log) => log.info({}, 'x'))).toMatch(/^\{/)
  expect(await linesOf({ level: 'info', format: 'pretty' }, false, (log) => log.info({}, 'x'))).not.toMatch(/^\{/)
})

test('lines below the level are not logged', async () => {
  const text = await linesOf({ level: 'warn', format: 'json' }, false, (log) => {
    log.debug({}, 'one')
    log.info({}, 'two')
    log.warn({}, 'three')
    log.error({}, 'four')
  })
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toEqual(['three', 'four'])
})

test.each(['json', 'pretty'] as const)(
  'secrets are redacted in a %s line, at the top and one level down',
  async (format) => {
    const text = await linesOf({ level: 'info', format }, false, (log) =>
      log.info({ password: 'hunter2', headers: { authorization: 'Bearer hunter2', 'x-api-key': 'hunter2' } }, 'call'),
    )
    expect(text).not.toContain('hunter2')
    expect(text.match(/\[redacted\]/g)).toHaveLength(3)
  },
)

test('an error keeps its message, its stack and its cause', async () => {
  const error = new Error('outer', { cause: new Error('inner') })
  const text = await linesOf({ level: 'info', format: 'json' }, false, (log) => log.error({ err: error }, 'failed'))
  expect(JSON.parse(text).err).toMatchObject({
    type: 'Error',
    message: 'outer: inner',
    stack: expect.stringContaining('logger.test.ts'),
  })
})
