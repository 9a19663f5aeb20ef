import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { silentLog } from '../../../base/log.ts'
import type { NumberedInput, TaskLease, WorkerSession } from '../../../engine/workers/worker-session.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { httpDoor } from '../../http/server/http-door.ts'
import { listenHttp } from '../../http/server/listen.ts'
import { snippetError } from '../../http/snippets/problem.ts'
import { HELLO, LOCAL_SCOPE, ran, snippetsGrid, stage } from '../../http/snippets/snippets.fixture.ts'
import { interactiveDoor } from './door.ts'
import type { InteractiveDoorOptions } from './session.ts'

const OFFERED = [
  ...['command', 'snippet'].map((value) => ({ name: 'runs', value })),
  { name: 'runs-without-image', value: 'yes' },
  { name: 'isolation', value: 'namespaces' },
  { name: 'language', value: 'python' },
  { name: 'interactive', value: 'yes' },
]

/** The door on a real server, and a worker that the test controls. */
async function doorWith(more: Partial<InteractiveDoorOptions> = {}) {
  const clock = manualClock()
  const { engine, service } = await snippetsGrid({ clock })
  const app = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const sockets = [
    interactiveDoor({ scopeOf: () => LOCAL_SCOPE, service, input: engine.input, clock, graceMs: 10, ...more }),
  ]
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, sockets })
  onTestFinished(() => server.close(0))
  const given = Promise.withResolvers<TaskLease>()
  const stopped = Promise.withResolvers<string>()
  const inputs: NumberedInput[] = []
  const session: WorkerSession = {
    lease: ([lease]) => lease && given.resolve(lease),
    stop: (_, why) => stopped.resolve(why),
    input: (_, input) => void inputs.push(input),
    begin() {},
    order() {},
    close() {},
  }
  engine.workers.register({ worker: 'w1', slots: 1, properties: OFFERED }, session)
  const socket = new WebSocket(`ws://${server.address}/api/v1/tasks/interactive`)
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  const messages: Record<string, unknown>[] = []
  socket.on('message', (data) => void messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'start', ...HELLO }))
  const lease = await given.promise
  engine.workers.started('w1', lease.attemptId)
  return { engine, clock, socket, lease, inputs, messages, stopped: stopped.promise }
}

test('a client that does not read is disconnected, and its task is cancelled', async () => {
  const { engine, clock, socket, lease, stopped } = await doorWith({ stallMs: 50 })
  socket.pause()
  let isStopped = false
  void stopped.then(() => (isStopped = true))
  const bytes = Buffer.alloc(64 * 1024, 'x')
  for (let at = 0; !isStopped; at += bytes.length) {
    engine.workers.output({ worker: 'w1', attemptId: lease.attemptId, stream: 'stdout', bytes, at })
    await new Promise<void>((resolve) => setImmediate(resolve))
    clock.advance(1)
  }
  expect(await stopped).toBe('cancelled')
})

test('a client that sends more input than is read is closed with 1013, and its task is cancelled', async () => {
  const { clock, socket, messages, stopped } = await doorWith()
  for (let i = 0; i < 20; i++) socket.send(Buffer.alloc(64 * 1024))
  const [code] = await once(socket, 'close')
  expect(code).toBe(1013)
  expect(messages.at(-1)).toMatchObject({ type: 'error', retryAfter: 1 })
  clock.advance(10)
  expect(await stopped).toBe('cancelled')
})

test('input after the end is ignored, and the end is sent', async () => {
  const { engine, socket, lease, messages } = await doorWith()
  const { attemptId } = lease
  const result = commandResultToProto(ran(stage('all of it', { exitCode: 3, cause: 'exit' })))
  socket.send(Buffer.from('early'))
  void engine.workers.finished({ worker: 'w1', attemptId }, { outcome: { kind: 'result', succeeded: false }, result })
  socket.send(Buffer.from('late'))
  const [code] = await once(socket, 'close')
  expect(code).toBe(1000)
  expect(messages.slice(-2)).toMatchObject([
    { type: 'output', data: 'all of it' },
    { type: 'exit', status: 'failed', exitCode: 3, cause: 'exit', executionTime: '1.2s' },
  ])
})
