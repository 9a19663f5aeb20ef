import { expect, test } from 'vitest'
import { codeWorker, offering, ownFolder } from './code-grid.ts'
import { serverProcess } from './server-process.ts'

test('accepted tasks survive a kill of the server, and their idempotency keys return the same tasks', async () => {
  const server = await serverProcess(ownFolder())
  const { client } = server
  await codeWorker(server)
  await offering(server, ['bash'])
  const orders = Array.from({ length: 12 }, (_, i) => ({
    language: 'bash',
    code: `sleep 0.3; echo ${i}`,
    idempotencyKey: `order-${i}`,
    metadata: { run: 'killed' },
  }))
  const same = { language: 'bash', code: 'sleep 1; echo same', cache: true, metadata: { run: 'merged' } }
  const merged = (await Promise.all([same, same, same].map((order) => client.submit(order)))).map(
    ({ taskId }) => taskId,
  )
  const ids = (await Promise.all(orders.map((order) => client.submit(order)))).map(({ taskId }) => taskId)
  await server.kill()

  await server.again()
  await offering(server, ['bash'])
  const tasks = await Promise.all(ids.map((id) => client.wait(id)))
  expect(tasks.map(({ status, result }) => [status, result?.output])).toEqual(
    orders.map((_, i) => ['completed', `${i}\n`]),
  )
  const again = await Promise.all(orders.map((order) => client.submit(order)))
  expect(again.map(({ taskId }) => taskId)).toEqual(ids)
  expect((await client.list({ metadata: { run: 'killed' } })).tasks).toHaveLength(orders.length)

  for (const id of merged) expect((await client.wait(id)).result?.output).toBe('same\n')
  const fromCache = await client.run(same)
  expect(fromCache.cached).toBe(true)
  const listed = (await client.list({ metadata: { run: 'merged' } })).tasks.map(({ taskId }) => taskId)
  expect(listed.toSorted()).toEqual([...merged, fromCache.taskId].toSorted())
})
