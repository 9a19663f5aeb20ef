import { expect, test } from 'vitest'
import { turns, until } from '../../src/engine/grid.fixture.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { executionGrid, refusal } from './execution-grid.ts'
import { createLog, readLog, writeLog, writeStatus } from './log-reading.ts'
import { nameOf } from './messages.ts'

test('a log stream can be read by several readers while it is written, until it is finished', async () => {
  const { channel } = await executionGrid()
  const { name, writeName } = await createLog(channel, 'main')
  expect(name).toMatch(/^main\/logstreams\/[^/]+$/)
  expect(writeName.startsWith(`${name}/`)).toBe(true)
  const readers = [readLog(channel, name), readLog(channel, name)]
  const writer = writeLog(channel, writeName)
  writer.write('one ')
  for (const reader of readers) await reader.until('one ')
  writer.write('two', true)
  expect(await writer.end()).toBe(7)
  for (const reader of [...readers, readLog(channel, name)]) expect(await reader.rest()).toBe('one two')
  expect(await readLog(channel, name, { offset: 4 }).rest()).toBe('two')
  expect(await readLog(channel, name, { offset: 2, limit: 3 }).rest()).toBe('e t')
})

test('an interrupted log writer queries the committed size and resumes there', async () => {
  const { channel } = await executionGrid()
  const { name, writeName } = await createLog(channel)
  expect(await writeStatus(channel, writeName)).toEqual({})
  const first = writeLog(channel, writeName)
  first.write('abc')
  expect(await first.end()).toBe(3)
  expect(await writeStatus(channel, writeName)).toEqual({ committedSize: '3' })
  const second = writeLog(channel, writeName, 3)
  second.write('def', true)
  expect(await second.end()).toBe(6)
  expect(await writeStatus(channel, writeName)).toEqual({ committedSize: '6', complete: true })
  expect(await readLog(channel, name).rest()).toBe('abcdef')
})

test('the write name of a log cannot be read or guessed, and the read name cannot be written', async () => {
  const { channel } = await executionGrid()
  const { name, writeName } = await createLog(channel)
  expect(await refusal(readLog(channel, writeName).rest())).toMatchObject({ code: STATUS.invalidArgument })
  expect(await refusal(writeStatus(channel, name))).toMatchObject({ code: STATUS.invalidArgument })
  for (const [wrong, code] of [
    [name, STATUS.invalidArgument],
    [`${name}/guess`, STATUS.notFound],
    [`other/${writeName}`, STATUS.notFound],
    ['logstreams/unknown/guess', STATUS.notFound],
  ] as const) {
    const writer = writeLog(channel, wrong)
    writer.write('x')
    expect(await refusal(writer.end()), wrong).toMatchObject({ code })
  }
  expect(await refusal(readLog(channel, 'logstreams/unknown').rest())).toMatchObject({ code: STATUS.notFound })
})

test('a log write at a wrong offset or after the end is refused with INVALID_ARGUMENT', async () => {
  const { channel } = await executionGrid()
  const { writeName } = await createLog(channel)
  const ahead = writeLog(channel, writeName, 5)
  ahead.write('x')
  expect(await refusal(ahead.end())).toMatchObject({ code: STATUS.invalidArgument })
  const writer = writeLog(channel, writeName)
  writer.write('abc', true)
  expect(await writer.end()).toBe(3)
  const late = writeLog(channel, writeName, 3)
  late.write('d', true)
  expect(await refusal(late.end())).toMatchObject({ code: STATUS.invalidArgument })
  const again = writeLog(channel, writeName, 3)
  again.write('', true)
  expect(await again.end()).toBe(3)
})

test('a long log keeps its end: an offset before it is OUT_OF_RANGE, and dropped bytes are reported', async () => {
  const { channel } = await executionGrid({ logs: { limits: { heldBytes: 32 * 1024 } } })
  const { name, writeName } = await createLog(channel)
  const writer = writeLog(channel, writeName)
  for (let i = 0; i < 100; i++) writer.write(`${i % 10}`.repeat(1024), i === 99)
  expect(await writer.end()).toBe(102_400)
  const all = await readLog(channel, name).rest()
  expect(all).toMatch(/^\n\[windlass: \d+ bytes left out\]\n/)
  const [, left] = /windlass: (\d+) bytes/.exec(all) ?? []
  expect(all.slice(all.indexOf(']\n') + 2).length).toBe(102_400 - Number(left))
  expect(await refusal(readLog(channel, name, { offset: 1 }).rest())).toMatchObject({ code: STATUS.outOfRange })
  expect(await refusal(readLog(channel, name, { offset: 102_401 }).rest())).toMatchObject({ code: STATUS.outOfRange })
  expect(await readLog(channel, name, { offset: 102_390 }).rest()).toBe('9'.repeat(10))
})

test('above the limit of logs CreateLogStream is RESOURCE_EXHAUSTED, and a finished log is evicted first', async () => {
  const { channel } = await executionGrid({ logs: { limits: { most: 2 } } })
  const first = await createLog(channel)
  await createLog(channel)
  expect(await refusal(createLog(channel))).toMatchObject({ code: STATUS.resourceExhausted })
  const writer = writeLog(channel, first.writeName)
  writer.write('x', true)
  await writer.end()
  await createLog(channel)
  expect(await refusal(readLog(channel, first.name).rest())).toMatchObject({ code: STATUS.notFound })
})

test('a log is deleted after unwrittenMs, idleMs or finishedMs, and its readers end', async () => {
  const { channel, clock } = await executionGrid({
    logs: { limits: { unwrittenMs: 1000, idleMs: 5000, finishedMs: 2000 } },
  })
  const [never, idle, finished] = [await createLog(channel), await createLog(channel), await createLog(channel)]
  const waiting = readLog(channel, idle.name)
  for (const [{ writeName }, isFinished] of [
    [idle, false],
    [finished, true],
  ] as const) {
    const writer = writeLog(channel, writeName)
    writer.write('abc', isFinished)
    await writer.end()
  }
  await waiting.until('abc')
  clock.advance(1500)
  expect(await refusal(readLog(channel, never.name).rest())).toMatchObject({ code: STATUS.notFound })
  expect(await readLog(channel, finished.name).rest()).toBe('abc')
  clock.advance(1000)
  expect(await refusal(readLog(channel, finished.name).rest())).toMatchObject({ code: STATUS.notFound })
  clock.advance(3000)
  await turns()
  expect(await waiting.rest()).toBe('abc')
  expect(await refusal(readLog(channel, idle.name).rest())).toMatchObject({ code: STATUS.notFound })
  await until(() => clock.pending() < 3)
})

test('blobs can be read and written although their names contain "logstreams"', async () => {
  const grid = await executionGrid()
  const blob = Buffer.from('a blob')
  await grid.put(blob)
  const { hash } = nameOf(blob)
  expect(await readLog(grid.channel, `logstreams/blobs/${hash}/6`).rest()).toBe('a blob')
  const writer = writeLog(grid.channel, `uploads/logstreams/blobs/${hash}/6/logstreams/x`)
  writer.write('a blob', true)
  expect(await writer.end()).toBe(6)
})

test('CreateLogStream with a parent that is no instance is INVALID_ARGUMENT', async () => {
  const { channel } = await executionGrid()
  expect(await refusal(createLog(channel, 'operations/1'))).toMatchObject({ code: STATUS.invalidArgument })
})
