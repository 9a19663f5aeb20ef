/** Workers that send arbitrary messages in any order: the server survives, and honest workers are not affected. */
import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { type Random, randomFrom, seedOfRun } from '../../src/testing/random-source.ts'
import { type SocketGrid, startSocketGrid } from './socket-grid.ts'

const seed = seedOfRun()

const VALUES: readonly unknown[] = [
  ...[null, true, -1, 0, 1e308, '', 'python', '\u0000', '\ud800', [], {}, [null], 'x'.repeat(5000)],
  ...['a.1-1', '1.1-1', 'a.0-0', 'a.9999999999999999-1', { __proto__: { type: 'heartbeat' } }, ['a.1-1', 7]],
]
const TYPES = ['heartbeat', 'result', 'accepted', 'output', 'execute', 'cancel', 'constructor', 'toString', '']
const FIELDS = [
  'clientId',
  'taskId',
  'load',
  'capabilities',
  'running',
  'extensions',
  'status',
  'success',
  'exitCode',
].concat('executionTime', 'output', 'error', 'stream', 'data', 'offset', 'cause', 'hasOwnProperty')

const oneOf = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T

/** Generates a message, sometimes a valid one. */
function anything(random: Random, known: readonly unknown[]): string | object {
  if (random.chance(0.05)) return random.bytes(random.below(50)).toString('latin1')
  const message: Record<string, unknown> = { type: oneOf(random, TYPES) }
  if (random.chance(0.7)) message.clientId = `hostile-${random.below(4)}`
  if (random.chance(0.5)) message.taskId = oneOf(random, known)
  if (random.chance(0.3))
    message.load = { maxConcurrent: random.below(5), currentTasks: random.below(9), cpuUsage: 0.5 }
  if (random.chance(0.3)) message.capabilities = ['python']
  for (let i = random.below(4); i > 0; i--) message[oneOf(random, FIELDS)] = oneOf(random, VALUES)
  return message
}

async function babble(grid: SocketGrid, random: Random, known: unknown[]): Promise<void> {
  const worker = await grid.worker(`hostile-${random.below(4)}`, { load: { maxConcurrent: random.below(3) } })
  worker.socket.on('message', (data) => known.push(JSON.parse(String(data)).taskId))
  for (let i = 0; i < 20 && worker.socket.readyState === worker.socket.OPEN; i++) {
    worker.send(anything(random, known))
    if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve))
  }
  if (random.chance(0.5)) worker.socket.terminate()
  else worker.socket.close(random.chance(0.5) ? 1000 : 4000)
  await worker.closed
}

test(`no message crashes the server, or ends a task of another worker (seed ${seed})`, async () => {
  const random = randomFrom(seed)
  const grid = await startSocketGrid()
  const honest = await grid.worker('honest')
  await eventually(() => expect(grid.stateOf('honest')).toBe('ONLINE'))
  const { operation } = await grid.submit()
  const held = await honest.hears()
  const known: unknown[] = [held.taskId, ...VALUES]
  for (let i = 0; i < 60; i++) await babble(grid, random, known)

  const task = await grid.engine.find(LOCAL_CALLER, operation)
  expect(task).toMatchObject({ state: 'running', worker: 'honest', attempt: 1 })
  honest.finish(held, { output: 'honest' })
  const { result } = await grid.end(operation)
  expect(Buffer.from(result?.stages[0]?.stdout.inline ?? []).toString()).toBe('honest')

  const again = await grid.submit()
  honest.finish(await honest.hears())
  expect((await grid.end(again.operation)).status).toMatchObject({ state: 'completed', worker: 'honest' })
})
