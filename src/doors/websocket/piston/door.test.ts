import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { silentLog } from '../../../base/log.ts'
import type { TaskLease, WorkerSession } from '../../../engine/workers/worker-session.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { commandResultToProto } from '../../../wire/tasks/command-task-result.ts'
import { pistonError } from '../../http/piston/problem.ts'
import { httpDoor } from '../../http/server/http-door.ts'
import { listenHttp } from '../../http/server/listen.ts'
import { LOCAL_SCOPE, ran, snippetsGrid, stage } from '../../http/snippets/snippets.fixture.ts'
import { pistonConnect } from './door.ts'
import type { PistonConnectOptions } from './session.ts'

const OFFERED = [
  ...['command', 'snippet'].map((value) => ({ name: 'runs', value })),
  { name: 'runs-without-image', value: 'yes' },
  { name: 'isolation', value: 'namespaces' },
  { name: 'language', value: 'python' },
  { name: 'interactive', value: 'yes' },
]

/** A client that has started a program, and a worker that the test controls. */
async function begun(more: Partial<PistonConnectOptions> = {}) {
  const clock = manualClock()
  const { engine, service } = await snippetsGrid({ clock })
  const app = httpDoor({
    errorShapes: [pistonError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const sockets = pistonConnect({ scopeOf: () => LOCAL_SCOPE, service, input: engine.input, clock, ...more })
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, sockets })
  onTestFinished(() => server.close(0))
  const given = Promise.withResolvers<TaskLease>()
  const stopped = Promise.withResolvers<string>()
  const session: WorkerSession = {
    lease: ([lease]) => lease && given.resolve(lease),
    stop: (_, why) => stopped.resolve(why),
    input() {},
    begin() {},
    order() {},
    close() {},
  }
  engine.workers.register({ worker: 'w1', slots: 1, properties: OFFERED }, session)
  const socket = new WebSocket(`ws://${server.address}/api/v2/connect`)
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  const heard: Record<string, unknown>[] = []
  socket.on('message', (data) => void heard.push(JSON.parse(String(data))))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'init', language: 'python', version: '*', files: [{ content: '' }] }))
  const { attemptId } = await given.promise
  engine.workers.started('w1', attemptId)
  const print = (bytes: Uint8Array, at: number) =>
    engine.workers.output({ worker: 'w1', attemptId, stream: 'stdout', bytes, at })
  return { clock, engine, socket, attemptId, heard, print, stopped: stopped.promise }
}

test('a client that does not read is disconnected, and its task is cancelled', async () => {
  const { clock, socket, print, stopped } = await begun({ stallMs: 50 })
  socket.pause()
  let isStopped = false
  void stopped.then(() => (isStopped = true))
  const bytes = Buffer.alloc(64 * 1024, 'x')
  for (let at = 0; !isStopped; at += bytes.length) {
    print(bytes, at)
    clock.advance(1)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(await stopped).toBe('cancelled')
})

test('a client that sends more input than is read is closed with 4002, and its task is cancelled', async () => {
  const { socket, heard, stopped } = await begun()
  const typed = JSON.stringify({ type: 'data', stream: 'stdin', data: 'x'.repeat(64 * 1024) })
  for (let i = 0; i < 20; i++) socket.send(typed)
  expect((await once(socket, 'close'))[0]).toBe(4002)
  expect(heard.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('has not read') })
  expect(await stopped).toBe('cancelled')
})

test('a character is sent when it is complete, and output that is only in the result is sent at the end', async () => {
  const { engine, socket, attemptId, heard, print } = await begun()
  const bytes = Buffer.from('é!')
  print(bytes.subarray(0, 1), 0)
  await new Promise<void>((resolve) => setImmediate(resolve))
  print(bytes.subarray(1), 1)
  const result = commandResultToProto(ran(stage('é! and more', { cause: 'exit', exitCode: 2 })))
  void engine.workers.finished({ worker: 'w1', attemptId }, { outcome: { kind: 'result', succeeded: false }, result })
  expect((await once(socket, 'close'))[0]).toBe(4999)
  const text = heard.filter(({ type }) => type === 'data').map(({ data }) => data)
  expect(text.join('')).toBe('é! and more')
  expect(text.join('')).not.toContain('\ufffd')
  expect(heard.at(-1)).toMatchObject({ type: 'exit', stage: 'run', code: 2, status: 'RE' })
})
