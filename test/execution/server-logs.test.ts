import { expect, test } from 'vitest'
import { digestListOf } from '../../src/base/digest-list.ts'
import { FaultError } from '../../src/base/fault.ts'
import { executionGrid, memoryInstance, type ResponseJson } from './execution-grid.ts'
import { resultOf } from './messages.ts'

const NAME = 'windlass-task.log'

async function contentOf({ blobs }: ReturnType<typeof memoryInstance>, { serverLogs }: ResponseJson): Promise<string> {
  const { hash = '', sizeBytes = '' } = serverLogs?.[NAME]?.digest ?? {}
  const digest = { fn: 'sha256', hash, size: Number(sizeBytes) } as const
  let text = ''
  await blobs.readMany(digestListOf('sha256', [digest]), {
    found(_, bytes) {
      text = Buffer.from(bytes).toString()
    },
    absent() {},
  })
  return text
}

test('a task that the grid could not run has a server log with attempts, worker, times and reason', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  const { name = '' } = (await stream.next()) ?? {}
  worker.start()
  await grid.after(1500)
  await worker.finish(undefined, { outcome: { kind: 'fault', what: 'its disk\nforged: line', final: true } })
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.serverLogs?.[NAME]).toMatchObject({ humanReadable: true })
  const text = await contentOf(grid.instance, response as ResponseJson)
  expect(text).toContain(`operation     ${name}\n`)
  expect(text).toMatch(/^state {9}failed \(hopeless\)$/m)
  expect(text).toMatch(/^why {11}.*its disk forged: line/m)
  expect(text).toMatch(/^attempts {6}1$/m)
  expect(text).toMatch(/^last worker {3}w1$/m)
  expect(text).toMatch(/^started {7}2023-11-14T22:13:20.000Z$/m)
  expect(text).toMatch(/^ended {9}2023-11-14T22:13:21.500Z$/m)
  expect(text).toMatch(/^last attempt {2}1.500 s$/m)
  expect(text).not.toMatch(/^forged/m)
  const [again] = await grid.waitExecution(name).rest()
  expect(again?.response?.serverLogs).toEqual(response?.serverLogs)
})

test('a command that timed out has a server log beside its result', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await stream.next()
  worker.start()
  await worker.finish(undefined, { outcome: { kind: 'timeout' }, result: resultOf({ exitCode: 143 }) })
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.result).toMatchObject({ exitCode: 143 })
  expect(await contentOf(grid.instance, response as ResponseJson)).toMatch(/^state {9}timeout/m)
})

test('a task that ran has no server log, even when its command failed', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  for (const exitCode of [0, 1]) {
    const stream = grid.execute({
      ...(await grid.action({ command: { arguments: [`/bin/${exitCode}`], platform: { properties: [] } } })),
    })
    await stream.next()
    await worker.finish(undefined, { result: resultOf({ exitCode }) })
    expect((await stream.rest()).at(-1)?.response?.serverLogs).toBeUndefined()
  }
})

test('with a full store the log is omitted, and the failure is still reported', async () => {
  const instance = memoryInstance()
  const full = new FaultError({ kind: 'exhausted', resource: 'disk', retryAfterMs: 1 })
  const grid = await executionGrid({ instance })
  const stream = grid.execute(await grid.action())
  await stream.next()
  instance.blobs.writeMany = () => Promise.reject(full)
  await grid.worker('w1').finish(undefined, { outcome: { kind: 'fault', what: 'broken', final: true } })
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.serverLogs).toBeUndefined()
  expect(response?.status?.code).toBe(9)
})
