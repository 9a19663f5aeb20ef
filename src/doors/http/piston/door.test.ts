import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import type { CommandTask } from '../../../model/command-task.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { httpDoor } from '../server/http-door.ts'
import { requestRules } from '../server/request-rules.ts'
import {
  ended,
  inline,
  LOCAL_SCOPE,
  ran,
  type SnippetGridOptions,
  snippetsGrid,
  stage,
  turns,
} from '../snippets/snippets.fixture.ts'
import { type PistonDoorOptions, pistonDoor } from './door.ts'
import { pistonError } from './problem.ts'

interface Wish extends RequestInit {
  readonly headers?: Record<string, string>
}

/** The door mounted on the HTTP app, over a real engine. */
async function doorOver(more: Partial<PistonDoorOptions> = {}, options: SnippetGridOptions = {}) {
  const grid = await snippetsGrid(options)
  const { service, instance, ending } = grid
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
  app.route(
    '/',
    pistonDoor({
      scopeOf: () => LOCAL_SCOPE,
      service,
      instances: () => instance,
      clock: manualClock(),
      ending: ending.signal,
      ...more,
    }),
  )
  const ask = async (path: string, body?: unknown, { headers, ...init }: Wish = {}) => {
    const response = await app.request(`http://localhost${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: 'localhost', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
    })
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') }
  }
  return { ...grid, ask }
}

const HELLO = { language: 'python', version: '3.x', files: [{ content: 'print(1)' }] }

test('a response has the keys of Piston, under both prefixes', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => ran(stage('1\n', { stderr: inline('warned\n') })) })
  for (const prefix of ['/api/v2', '/api/v2/piston'])
    expect(await ask(`${prefix}/execute`, HELLO)).toEqual({
      status: 200,
      body: {
        language: 'python',
        version: '3.11.2',
        run: {
          ...{
            stdout: '1\n',
            stderr: 'warned\n',
            output: '1\nwarned\n',
            code: 0,
            signal: null,
            message: null,
            status: null,
          },
          ...{ cpu_time: 1000, wall_time: 1200, memory: 8_000_000 },
        },
      },
    })
})

test('files, arguments, stdin and limits become those of the task', async () => {
  const { worker, ask } = await doorOver()
  let task: CommandTask | undefined
  worker('w1', {
    answer(given) {
      task = given
      return ran(stage(''))
    },
  })
  const { status } = await ask('/api/v2/execute', {
    ...HELLO,
    files: [
      { name: 'data.bin', content: 'AAEC', encoding: 'base64' },
      { name: '/src/../main.py', content: 'é' },
      { content: 'ff00', encoding: 'hex' },
    ],
    args: ['a b'],
    stdin: 'typed',
    ...{
      run_timeout: 1500,
      run_cpu_time: 700,
      run_memory_limit: 50_000_000,
      compile_memory_limit: -1,
      compile_timeout: 0,
    },
  })
  expect(status).toBe(200)
  expect(task?.inputs.files.map(({ path, contents }) => [path, Buffer.from(contents).toString('hex')])).toEqual([
    ['main.py', 'c3a9'],
    ['data.bin', '000102'],
    ['file2.code', 'ff00'],
  ])
  const run = task?.stages[0]
  expect(run).toMatchObject({ name: 'run', limits: { wallMs: 1500, cpuMs: 700, memoryBytes: 50_000_000 } })
  expect(run?.argv.at(-1)).toBe('a b')
  expect(run?.stdin).toEqual({ kind: 'inline', bytes: new TextEncoder().encode('typed\n') })
})

test.each([
  [{}, 'language is required as a string'],
  [{ ...HELLO, version: undefined }, 'version is required as a string'],
  [{ ...HELLO, files: 'x' }, 'files is required as an array'],
  [{ ...HELLO, files: [{}] }, 'files[0].content is required as a string'],
  [{ ...HELLO, files: [null] }, 'files[0].content is required as a string'],
  [{ ...HELLO, files: [{ content: 'eA==', encoding: 'base64' }] }, 'files must include at least one utf8 encoded file'],
  [{ ...HELLO, files: [] }, 'files must include at least one utf8 encoded file'],
  [{ ...HELLO, files: [{ content: 'x' }, { content: 'abc', encoding: 'hex' }] }, 'files[1].content is not hex'],
  [
    { ...HELLO, files: [{ name: '../../etc/passwd', content: 'x' }] },
    'files: "../../etc/passwd" leads out of the working directory',
  ],
  [{ ...HELLO, language: 'cobol' }, 'cobol-3.x runtime is unknown'],
  [{ ...HELLO, version: '2.x' }, 'python-2.x runtime is unknown'],
  [{ ...HELLO, version: 'latest!' }, 'python-latest! runtime is unknown'],
  [{ ...HELLO, language: 'ruby', version: '*' }, 'ruby-* runtime is unknown'],
  [{ ...HELLO, run_timeout: '3' }, 'If specified, run_timeout must be a number'],
  [{ ...HELLO, run_timeout: 1e9 }, 'run_timeout cannot exceed the configured limit of 300000'],
  [{ ...HELLO, compile_timeout: -5 }, 'compile_timeout must be non-negative'],
  [{ ...HELLO, args: [1] }, 'If specified, args must be an array of strings'],
  [{ ...HELLO, stdin: 1 }, 'If specified, stdin must be a string'],
  ['{', 'The body cannot be read as JSON'],
  ['null', 'language is required as a string'],
])('%j is refused with 400 and the message of Piston', async (body, message) => {
  const { worker, ask } = await doorOver()
  worker('w1')
  expect(await ask('/api/v2/execute', body)).toEqual({ status: 400, body: { message } })
})

test.each([
  [
    'another exit code',
    ended('exit', 3),
    { code: 3, signal: null, status: 'RE', message: 'Exited with error status 3' },
  ],
  ['a signal', ran(stage('', { cause: 'signal', signal: 'SIGFPE' })), { code: null, signal: 'SIGFPE', status: 'SG' }],
  ['no time left', ended('timeout'), { code: null, signal: 'SIGKILL', status: 'TO' }],
  [
    'no memory left',
    ended('out-of-memory'),
    { code: null, signal: 'SIGKILL', status: 'SG', message: 'Memory limit exceeded' },
  ],
  ['a flood', ended('output-limit'), { signal: 'SIGKILL', status: 'OL' }],
  ['a program that is none', ended('not-started'), { code: null, signal: null, status: 'XX' }],
])('%s gives its code, signal and status', async (_, result, run) => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => result })
  expect((await ask('/api/v2/execute', HELLO)).body).toMatchObject({ run })
})

test('output above mostOutputBytes is cut and marked truncated', async () => {
  const { worker, ask } = await doorOver({ mostOutputBytes: 3 })
  worker('w1', { answer: () => ran(stage('12345')) })
  expect((await ask('/api/v2/execute', HELLO)).body.run).toMatchObject({ stdout: '123', code: 0, truncated: true })
})

test('a failed compile stage is also the result of the run', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => ran(stage('', { name: 'compile', cause: 'exit', exitCode: 1, stderr: inline('no') })) })
  const { body } = await ask('/api/v2/execute', { ...HELLO, language: 'c', version: '*' })
  expect(body.run).toEqual(body.compile)
  expect(body.run).toMatchObject({ code: 1, stderr: 'no' })
})

test('text/plain is read as JSON from clients, and refused with 415 from a web page', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => ran(stage('1\n')) })
  const body = JSON.stringify(HELLO)
  const text = { 'content-type': 'text/plain;charset=UTF-8' }
  expect((await ask('/api/v2/execute', body, { headers: text })).status).toBe(200)
  const refusal = { status: 415, body: { message: 'requests must be of type application/json' } }
  expect(await ask('/api/v2/execute', body, { headers: { ...text, origin: 'http://localhost' } })).toEqual(refusal)
  expect(await ask('/api/v2/execute', body, { headers: { ...text, 'sec-fetch-site': 'cross-site' } })).toEqual(refusal)
  expect(await ask('/api/v2/execute', body, { headers: { ...text, 'user-agent': 'Mozilla/5.0 (X11)' } })).toEqual(
    refusal,
  )
  expect((await ask('/api/v2/execute', body, { headers: { ...text, origin: 'http://evil.example' } })).status).toBe(403)
  expect(
    (await ask('/api/v2/execute', body, { headers: { 'content-type': 'application/x-www-form-urlencoded' } })).status,
  ).toBe(415)
})

test('the task of a client that disconnects is cancelled, and a stopping server answers 503', async () => {
  const { worker, ask, ending } = await doorOver()
  const hands = worker('w1')
  const leaving = new AbortController()
  const left = ask('/api/v2/execute', HELLO, { signal: leaving.signal }).catch(() => {})
  await turns()
  hands.start()
  leaving.abort()
  await turns()
  expect(hands.heard).toEqual([expect.stringContaining('cancelled')])
  await left
  const waiting = ask('/api/v2/execute', HELLO)
  await turns()
  ending.abort()
  expect(await waiting).toEqual({ status: 503, body: { message: 'The server is stopping' } })
  expect((await ask('/api/v2/execute', HELLO)).status).toBe(503)
})

test('a full queue answers 503', async () => {
  const { worker, ask, ending } = await doorOver({}, { scheduler: { maxQueued: 1 } })
  worker('w1', { slots: 1 })
  const waiting = [ask('/api/v2/execute', HELLO)]
  await turns()
  waiting.push(ask('/api/v2/execute', HELLO))
  await turns()
  expect(await ask('/api/v2/execute', HELLO)).toEqual({ status: 503, body: { message: 'The queue is full' } })
  ending.abort()
  await Promise.all(waiting)
})

test('runtimes have the names and aliases of Piston, and version 0.0.0 when none is known', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { languages: ['python', 'python@3.11.2', 'python@3.9.1', 'ruby'], answer: () => ran(stage('')) })
  const python = { language: 'python', aliases: ['py', 'python3'] }
  expect((await ask('/api/v2/runtimes')).body).toEqual([
    { ...python, version: '3.11.2' },
    { ...python, version: '3.9.1' },
    { language: 'ruby', version: '0.0.0', aliases: [] },
  ])
  expect((await ask('/api/v2/execute', { ...HELLO, language: 'ruby', version: '*' })).body).toMatchObject({
    version: '0.0.0',
  })
  expect((await ask('/api/v2/packages')).body).toHaveLength(3)
  expect((await ask('/api/v2/packages?language=py')).body).toEqual([
    { language: 'python', language_version: '3.11.2', installed: true },
    { language: 'python', language_version: '3.9.1', installed: true },
  ])
  const refused = { status: 405, body: { message: expect.stringContaining('cannot be changed') } }
  const body = { language: 'python', version: '3.12.0' }
  expect(await ask('/api/v2/packages', body)).toEqual(refused)
  expect(await ask('/api/v2/piston/packages', body, { method: 'DELETE' })).toEqual(refused)
  for (const path of ['/api/v2/nonsense', '/api/v2/connect', '/api/v2/piston/x'])
    expect(await ask(path)).toEqual({ status: 404, body: { message: 'Not Found' } })
})

test('refusals by the request rules have the error shape of Piston', async () => {
  const app = new Hono()
  const rules = { allowedHosts: [], allowedOrigins: [], log: silentLog, errorShapes: [pistonError] }
  app.use(requestRules({ ...rules, maxBodyBytes: 10 }))
  app.post('/api/v2/execute', (c) => c.text('taken'))
  const post = (type: string, body: string) =>
    app.request('/api/v2/execute', {
      method: 'POST',
      body,
      headers: { host: 'localhost', 'content-type': type, 'content-length': `${body.length}` },
    })
  expect(await (await post('image/png', '{}')).json()).toEqual({ message: 'requests must be of type application/json' })
  expect(await (await post('application/json', 'x'.repeat(11))).json()).toEqual({
    message: expect.stringContaining('larger'),
  })
})
