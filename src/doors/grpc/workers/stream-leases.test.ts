import { expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../../engine/engine.ts'
import { createChannel } from '../../../grpc/client/channel.ts'
import { createServer } from '../../../grpc/server/server.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { heldBytes } from '../../../testing/held-memory.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { serverMessageFromProto, workerMessageToProto } from '../../../wire/workers/lease-stream.ts'
import { workersDoor } from './door.ts'

const MESSAGES = 20_000
const BYTES = 1024
const REGISTRATION = {
  worker: 'w1',
  slots: 1,
  resources: {},
  platform: [],
  running: undefined,
  prefetch: 0,
  preemptible: false,
  version: '',
  labels: [],
  group: '',
  wantsSpec: true,
} as const

async function workersStream() {
  const clock = manualClock()
  const engine = await createEngine({ journal: memoryJournal(), clock, newId: () => 'op', random: () => 0.5 })
  const timing = { now: clock.monotonic, after: clock.after }
  const server = createServer({ services: workersDoor({ service: engine.workers, clock }), timing })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in bound)) throw new Error('no port')
  const channel = createChannel({ address: { host: '127.0.0.1', port: bound.port }, timing })
  onTestFinished(async () => {
    channel.close()
    server.close()
    await engine.close()
  })
  const call = channel.open('/windlass.worker.v1.WorkerLink/StreamLeases')
  call.write(workerMessageToProto({ kind: 'register', registration: REGISTRATION }))
  const next = async () => {
    const message = await call.next()
    return message && serverMessageFromProto(message)
  }
  expect(await next()).toEqual({ kind: 'registered' })
  return { call, next }
}

/** A report about an attempt of another worker: the server answers with a stop, which shows that it was processed. */
const attemptId = `${'1-1'.padEnd(BYTES, '-')}.1-1`

test('20,000 messages of a worker leave no memory in use', async () => {
  const { call, next } = await workersStream()
  const say = async (messages: number): Promise<void> => {
    for (let i = 0; i < messages; i++) {
      call.write(workerMessageToProto({ kind: 'started', attemptId }))
      expect(await next()).toEqual({ kind: 'stop', attemptId, why: 'superseded' })
    }
  }
  await say(500) // warm up the JIT compiler
  const before = await heldBytes()
  await say(MESSAGES)
  expect((await heldBytes()) - before).toBeLessThan((MESSAGES * BYTES) / 8)
})
