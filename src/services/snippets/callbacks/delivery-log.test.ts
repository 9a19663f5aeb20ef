import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type DeliveryLog, memoryDeliveryLog } from './delivery-log.ts'
import { fileDeliveryLog } from './file-delivery-log.ts'

function ownPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-callbacks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'callbacks', 'deliveries.jsonl')
}

async function openFile(path: string, options?: { rewriteBytes: number }): Promise<DeliveryLog> {
  const log = await fileDeliveryLog(path, options)
  onTestFinished(() => log.close())
  return log
}

const FAILED = { at: 2, ms: 10, status: 500, problem: 'answered 500' }
const TAKEN = { at: 3, ms: 5, status: 200, problem: undefined }

describe.each<[string, () => Promise<DeliveryLog>]>([
  ['in memory', async () => memoryDeliveryLog()],
  ['in a file', () => openFile(ownPath())],
])('delivery log %s', (_, open) => {
  test('owed, tried, settled and dropped deliveries are recorded', async () => {
    const log = await open()
    await log.owe('a', 1)
    await log.owe('b', 1)
    await log.tried('a', FAILED)
    expect(log.owed()).toEqual(['a', 'b'])
    await log.tried('a', TAKEN)
    await log.settle('a', 'delivered', 4)
    expect(log.owed()).toEqual(['b'])
    expect(log.of('a')).toEqual({ task: 'a', owedAt: 1, state: 'delivered', settledAt: 4, tries: [FAILED, TAKEN] })
    await log.drop('b')
    expect([log.owed(), log.of('b')]).toEqual([[], undefined])
  })

  test('tries and ends of an unknown delivery are ignored', async () => {
    const log = await open()
    await log.tried('x', TAKEN)
    await log.settle('x', 'delivered', 4)
    expect(log.of('x')).toBeUndefined()
  })
})

test('deliveries in the file survive a crash, and an incomplete line is ignored', async () => {
  const path = ownPath()
  const log = await openFile(path)
  await log.owe('a', 1)
  await log.owe('b', 1)
  await log.tried('a', FAILED)
  await log.settle('b', 'given-up', 9)
  appendFileSync(path, '{"kind":"owed","task":"c"\n{"kind":"what"}\nnull\n{"kind":"owed","ta')
  const again = await openFile(path)
  expect(again.owed()).toEqual(['a'])
  expect(again.of('a')?.tries).toEqual([FAILED])
  expect(again.of('b')?.state).toBe('given-up')
  expect(statSync(path).mode & 0o077).toBe(0)
})

test('the file is rewritten when it has grown to rewriteBytes, and owed deliveries are kept', async () => {
  const path = ownPath()
  const log = await openFile(path, { rewriteBytes: 2000 })
  await log.owe('kept', 1)
  for (let i = 0; i < 200; i++) {
    await log.owe(`t${i}`, i)
    await log.drop(`t${i}`)
  }
  expect(readFileSync(path).length).toBeLessThan(4000)
  const again = await openFile(path)
  expect(again.owed()).toEqual(['kept'])
})

test('the oldest settled deliveries are dropped first', async () => {
  const log = memoryDeliveryLog(2)
  for (const task of ['a', 'b', 'c']) {
    await log.owe(task, 1)
    await log.settle(task, 'delivered', 2)
  }
  expect(['a', 'b', 'c'].map((task) => log.of(task)?.state)).toEqual([undefined, 'delivered', 'delivered'])
})
