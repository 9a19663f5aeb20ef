import { expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../../engine/engine.ts'
import { createChannel } from '../../../grpc/client/channel.ts'
import { createServer } from '../../../grpc/server/server.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { heldBytes } from '../../../testing/held-memory.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { serverMessageFromProto, workerMessageToProto } from '../../../wire/workers/stream.ts'
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
  const server = createServer({ services: workersDoor({ desk: engine.workers, clock }), timing })
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

/** Of an attempt that is not the worker’s: it is told to stop it, and so one knows that it was heard. */
const attemptId = `${'1-1'.padEnd(BYTES, '-')}.1-1`

test('what a worker has said is not kept, however long its stream lasts', async () => {
  const { call, next } = await workersStream()
  const say = async (messages: number): Promise<void> => {
    for (let i = 0; i < messages; i++) {
      call.write(workerMessageToProto({ kind: 'started', attemptId }))
      expect(await next()).toEqual({ kind: 'stop', attemptId, why: 'superseded' })
    }
  }
  await say(500) // for the compiler
  const before = await heldBytes()
  await say(MESSAGES)
  expect((await heldBytes()) - before).toBeLessThan((MESSAGES * BYTES) / 8)
})
