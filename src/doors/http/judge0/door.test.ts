import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { addressRules } from '../../../base/address-rules.ts'
import { silentLog } from '../../../base/log.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { requestRules } from '../server/request-rules.ts'
import {
  ended,
  ran,
  type SnippetGridOptions,
  scopeByHeader,
  snippetsGrid,
  stage,
} from '../snippets/snippets.fixture.ts'
import { type Judge0DoorOptions, judge0Door } from './door.ts'
import { judge0Error } from './problem.ts'
import { zipOf } from './zip-of.fixture.ts'

/** The door over a real engine, and a client of it. */
async function doorOver(more: Partial<Judge0DoorOptions> = {}, options: SnippetGridOptions = {}) {
  const grid = await snippetsGrid(options)
  const { service, instance, ending } = grid
  const app = judge0Door({
    service,
    instances: () => instance,
    clock: manualClock(),
    version: '1.2.3',
    ending: ending.signal,
    figures: grid.engine.figures,
    scopeOf: scopeByHeader,
    ...more,
  })
  const ask = async (path: string, body?: unknown, init: RequestInit = {}) => {
    const response = await app.request(path, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...init,
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  return { ...grid, app, ask }
}

const HELLO = { language_id: 71, source_code: "print('Hello, World!')" }

test('wait=true returns the default fields of the result, and other fields can be requested by its token', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => ran(stage('Hello, World!\n')) })
  const { status, body } = await ask('/submissions?wait=true', { ...HELLO, expected_output: 'Hello, World!' })
  expect(status).toBe(201)
  expect(body).toEqual({
    stdout: 'Hello, World!\n',
    time: '1',
    memory: 7813,
    stderr: null,
    token: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    compile_output: null,
    message: null,
    status: { id: 3, description: 'Accepted' },
  })
  expect((await ask(`/judge0/submissions/${body.token}`)).body).toEqual(body)
  const fields = 'source_code,language,language_id,exit_code,cpu_time_limit,finished_at'
  expect((await ask(`/submissions/${body.token}?fields=${fields}&base64_encoded=true`)).body).toEqual({
    source_code: Buffer.from(HELLO.source_code).toString('base64'),
    language: { id: 71, name: 'Python (3.11.2)' },
    language_id: 71,
    exit_code: 0,
    cpu_time_limit: '5.0',
    finished_at: expect.stringMatching(/Z$/),
  })
  expect(Object.keys((await ask(`/submissions/${body.token}?fields=*`)).body)).toHaveLength(35)
})

test('without wait a token is returned at once, and status_id goes from 1 (queued) to 2 and 3', async () => {
  const { worker, ask } = await doorOver()
  const hands = worker('w1', { slots: 1 })
  const made = await ask('/submissions', HELLO)
  expect(made).toEqual({ status: 201, body: { token: expect.any(String) } })
  const shown = async () => (await ask(`/submissions/${made.body.token}?fields=status_id`)).body.status_id
  expect(await shown()).toBe(1)
  hands.start()
  expect(await shown()).toBe(2)
  await hands.finish(ran(stage('x')))
  expect(await shown()).toBe(3)
})

test.each([
  ['wrong output', ran(stage('other')), 4],
  ['no time left', ended('timeout', 137), 5],
  ['no processor time left', ended('cpu-time', 137), 5],
  ['a compiler that fails', ran(stage('', { name: 'compile', cause: 'exit', exitCode: 1 })), 6],
  ['a bad address', ran(stage('', { cause: 'signal', signal: 'SIGSEGV', exitCode: 139 })), 7],
  ['a file that is too long', ended('file-size'), 8],
  ['a division by zero', ran(stage('', { cause: 'signal', signal: 'SIGFPE', exitCode: 136 })), 9],
  ['abort', ran(stage('', { cause: 'signal', signal: 'SIGABRT', exitCode: 134 })), 10],
  ['another exit code', ended('exit', 3), 11],
  ['no memory left', ended('out-of-memory', 137), 12],
  ['a program that is none', ended('not-started', 126), 14],
  ['what was expected', ran(stage('yes  \n\n')), 3],
])('%s gives its status_id', async (_, result, id) => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => result })
  const { body } = await ask('/submissions?wait=true&fields=status_id', { ...HELLO, expected_output: 'yes' })
  expect(body).toEqual({ status_id: id })
})

test('binary output is an error without base64_encoded=true', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', {
    answer: () =>
      ran(stage('', { stdout: { inline: Buffer.of(255, 1), digest: undefined, droppedBytes: 0, droppedAt: 0 } })),
  })
  const { status, body } = await ask('/submissions?wait=true', HELLO)
  expect([status, body]).toEqual([
    201,
    { error: expect.stringContaining('base64_encoded=true'), token: expect.any(String) },
  ])
  expect((await ask(`/submissions/${body.token}`)).status).toBe(400)
  expect((await ask(`/submissions/${body.token}?base64_encoded=true&fields=stdout`)).body).toEqual({ stdout: '/wE=' })
})

test('number_of_runs gives the mean time of all runs, or the result of the first run that fails', async () => {
  const { worker, ask } = await doorOver()
  let count = 0
  const usage = (cpuUserMs: number) =>
    ({ wallMs: 50, cpuUserMs, cpuSystemMs: 0, peakMemoryBytes: 1024, how: 'counted' }) as const
  worker('w1', { answer: () => ran(stage('x', { usage: usage(++count * 100) })) })
  const { body } = await ask('/submissions?wait=true&fields=time,status_id,number_of_runs,token', {
    ...HELLO,
    number_of_runs: 3,
  })
  expect(body).toMatchObject({ time: '0.2', status_id: 3, number_of_runs: 3 })
  expect(count).toBe(3)
  const failing = await doorOver()
  let runs = 0
  failing.worker('w1', { answer: () => (++runs === 2 ? ended('exit', 9) : ran(stage('x'))) })
  const shown = await failing.ask('/submissions?wait=true&fields=status_id,exit_code', { ...HELLO, number_of_runs: 3 })
  expect(shown.body).toEqual({ status_id: 11, exit_code: 9 })
})

test('redirect_stderr_to_stdout appends stderr to stdout, and expected_output is compared with both', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', {
    answer: () =>
      ran(
        stage('out\n', { stderr: { inline: Buffer.from('err\n'), digest: undefined, droppedBytes: 0, droppedAt: 0 } }),
      ),
  })
  const body = { ...HELLO, redirect_stderr_to_stdout: true, expected_output: 'out\nerr' }
  expect((await ask('/submissions?wait=true&fields=stdout,stderr,status_id', body)).body).toEqual({
    stdout: 'out\nerr\n',
    stderr: null,
    status_id: 3,
  })
})

test('a batch is answered one submission at a time, and a batch of 0 or 21 is refused with 400', async () => {
  const { worker, ask } = await doorOver()
  worker('w1', { answer: () => ran(stage('x')) })
  const made = await ask('/submissions/batch', {
    submissions: [HELLO, { language_id: 71 }, { ...HELLO, language_id: 9999 }],
  })
  expect(made).toEqual({
    status: 201,
    body: [
      { token: expect.any(String) },
      { source_code: ["can't be blank"] },
      { language_id: ["language with id 9999 doesn't exist"] },
    ],
  })
  const { token } = made.body[0]
  const shown = await ask(`/submissions/batch?tokens=${token},nothing&fields=token`)
  expect(shown.body).toEqual({ submissions: [{ token }, null] })
  const few = 'there should be at least one submission in a batch'
  const many = 'number of submissions in a batch should be less than or equal to 20'
  expect(await ask('/submissions/batch', {})).toEqual({ status: 400, body: { error: few } })
  expect(await ask('/submissions/batch', { submissions: Array(21).fill(HELLO) })).toEqual({
    status: 400,
    body: { error: many },
  })
  expect(await ask(`/submissions/batch?tokens=${Array(21).fill('x')}`)).toEqual({ status: 400, body: { error: many } })
  expect(await ask('/submissions/batch', { submissions: [{}] })).toMatchObject({ status: 422 })
})

test.each([
  [{}, { language_id: ["can't be blank"], source_code: ["can't be blank"] }],
  [{ ...HELLO, language_id: 'x' }, { language_id: ['is not a number', "can't be blank"] }],
  [{ ...HELLO, cpu_time_limit: 1e9 }, { cpu_time_limit: ['must be less than or equal to 300'] }],
  [{ ...HELLO, memory_limit: 1 }, { memory_limit: ['must be greater than or equal to 2048'] }],
  [{ ...HELLO, number_of_runs: 0 }, { number_of_runs: ['must be greater than or equal to 1'] }],
  [{ ...HELLO, compiler_options: '-O3' }, { compiler_options: ['setting compiler options is not allowed'] }],
  [
    { ...HELLO, enable_network: true },
    { enable_network: [expect.stringMatching(/^enabling network is not allowed: .*execution\.network/)] },
  ],
  [{ ...HELLO, callback_url: 'https://example.com' }, { callback_url: ['setting callback is not allowed'] }],
  [{ ...HELLO, command_line_arguments: '"' }, { command_line_arguments: ['has a quote that does not end'] }],
  [{ ...HELLO, source_code: 7 }, { source_code: ['is not a text', "can't be blank"] }],
  [{ ...HELLO, additional_files: 'eA==' }, { additional_files: ['it is not a zip archive'] }],
  [
    { ...HELLO, additional_files: zipOf([{ name: '../x', contents: '' }]).toString('base64') },
    { base: [expect.stringContaining('leads out of the working directory')] },
  ],
  [{ language_id: 89 }, { additional_files: ["can't be blank"] }],
  [
    { language_id: 89, additional_files: zipOf([{ name: 'x', contents: '' }]).toString('base64') },
    { additional_files: ['the archive has no script called run'] },
  ],
])('%j is refused with 422, field by field', async (body, errors) => {
  const { worker, ask } = await doorOver()
  worker('w1', { languages: ['python', 'bash'] })
  expect(await ask('/submissions', body)).toEqual({ status: 422, body: errors })
})

test('a callback to a private address is refused with 422', async () => {
  const { worker, ask } = await doorOver({ callbacks: { addresses: addressRules({ reach: [], own: () => [] }) } })
  worker('w1')
  const inside = await ask('/submissions', { ...HELLO, callback_url: 'http://127.0.0.1/x' })
  expect(inside).toEqual({
    status: 422,
    body: { callback_url: [expect.stringMatching(/^127\.0\.0\.1 is not a public address/)] },
  })
})

test('a full queue, no worker and a stopping server answer 503, each with its own error', async () => {
  const empty = await doorOver()
  expect(await empty.ask('/submissions', HELLO)).toEqual({ status: 503, body: { error: 'no live worker has python' } })
  const { ask, worker, ending } = await doorOver({}, { scheduler: { maxQueued: 1 } })
  worker('w1', { slots: 1 })
  for (let i = 0; i < 2; i++) expect((await ask('/submissions', HELLO)).status).toBe(201)
  expect(await ask('/submissions', HELLO)).toEqual({ status: 503, body: { error: 'queue is full' } })
  ending.abort()
  expect(await ask('/submissions', HELLO)).toEqual({ status: 503, body: { error: 'the server is stopping' } })
})

test('a running submission is cancelled by DELETE, an ended one is not, and other tenants get 404', async () => {
  const { ask, worker } = await doorOver()
  const hands = worker('w1')
  const { token } = (await ask('/submissions', HELLO)).body
  expect((await ask(`/submissions/${token}`, undefined, { headers: { 'x-instance': 'other' } })).status).toBe(404)
  hands.start()
  expect((await ask(`/submissions/${token}`, undefined, { method: 'DELETE' })).status).toBe(200)
  expect(hands.heard).toEqual([expect.stringContaining('cancelled')])
  await hands.finish(ended('signal'))
  expect((await ask(`/submissions/${token}?fields=status_id`)).body).toEqual({ status_id: 13 })
  const again = await ask(`/submissions/${token}`, undefined, { method: 'DELETE' })
  expect(again).toEqual({ status: 400, body: { error: 'delete not allowed' } })
})

test("languages have Judge0's ids, and statuses, config_info, workers and about its shapes", async () => {
  const { app, ask, worker } = await doorOver()
  worker('w1', { languages: ['python', 'python@3.11.2', 'c', 'c@12.2.0', 'ruby'] })
  expect((await ask('/languages')).body).toEqual([
    ...[48, 49, 50].map((id) => ({ id, name: 'c (12.2.0)' })),
    { id: 71, name: 'Python (3.11.2)' },
    { id: 72, name: 'ruby' },
    ...[92, 100].map((id) => ({ id, name: 'Python (3.11.2)' })),
    { id: 103, name: 'c (12.2.0)' },
    ...[109, 113].map((id) => ({ id, name: 'Python (3.11.2)' })),
  ])
  expect((await ask('/judge0/languages/all')).body).toContainEqual({
    id: 92,
    name: 'Python (3.11.2)',
    is_archived: false,
  })
  expect((await ask('/languages/50')).body).toMatchObject({ id: 50, source_file: 'main.c', is_archived: false })
  expect((await ask('/languages/7')).status).toBe(404)
  expect((await ask('/statuses')).body).toHaveLength(14)
  expect((await ask('/statuses')).body[4]).toEqual({ id: 5, description: 'Time Limit Exceeded' })
  expect((await ask('/config_info')).body).toMatchObject({
    max_submission_batch_size: 20,
    enable_network: false,
    cpu_time_limit: 5,
    max_queue_size: 10_000,
  })
  expect((await ask('/workers')).body).toEqual([
    { queue: 'default', size: 0, available: 1, idle: 1, working: 0, paused: 0, failed: 0 },
  ])
  expect((await ask('/about')).body).toMatchObject({ version: '1.13.1', maintainer: 'windlass 1.2.3' })
  expect(await (await app.request('/version')).text()).toBe('1.13.1')
  expect((await ask('/submissions?fields=x')).status).toBe(403)
  expect((await ask('/submissions/x?fields=nonsense')).body).toEqual({ error: 'invalid fields: [nonsense]' })
  expect(await ask('/judge0/nonsense')).toEqual({ status: 404, body: { error: 'Not Found' } })
})

test('refusals by the request rules have the error shape of Judge0', async () => {
  const clock = manualClock()
  const app = new Hono()
  const rates = { perKey: { perSecond: 1, burst: 2 }, clock }
  const rules = { allowedHosts: [], allowedOrigins: [], log: silentLog, errorShapes: [judge0Error] }
  app.use(requestRules({ ...rules, rates, maxBodyBytes: 100 }))
  app.post('/submissions', (c) => c.text('taken'))
  const post = (type: string, body: string) =>
    app.request('/submissions', {
      method: 'POST',
      body,
      headers: { host: 'localhost', 'content-type': type, 'content-length': `${body.length}`, authorization: 'k' },
    })
  expect(await (await post('text/plain', '{}')).json()).toEqual({ error: expect.stringContaining('application/json') })
  const large = await post('application/json', 'x'.repeat(101))
  expect([large.status, await large.json()]).toEqual([413, { error: expect.stringContaining('larger') }])
  const fast = await post('application/json', '{}')
  expect([fast.status, await fast.json()]).toEqual([429, { error: expect.stringContaining('slow down') }])
})
