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
])('a delivery log %s', (_, open) => {
  test('tells what is owed, what was tried, and what came of it', async () => {
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

  test('nothing happens to what nobody owes', async () => {
    const log = await open()
    await log.tried('x', TAKEN)
    await log.settle('x', 'delivered', 4)
    expect(log.of('x')).toBeUndefined()
  })
})

test('what is in the file is there after a crash; a line that was torn never was', async () => {
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

test('the file is written anew when it has grown, and nothing is lost by it', async () => {
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

test('of what is settled the oldest is forgotten first', async () => {
  const log = memoryDeliveryLog(2)
  for (const task of ['a', 'b', 'c']) {
    await log.owe(task, 1)
    await log.settle(task, 'delivered', 2)
  }
  expect(['a', 'b', 'c'].map((task) => log.of(task)?.state)).toEqual([undefined, 'delivered', 'delivered'])
})
