/** The API returns every code of docs/guide/api-codes.md over HTTP, and no other. */
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { snippetsDoor } from '../../src/doors/http/snippets/door.ts'
import { snippetsGrid } from '../../src/doors/http/snippets/snippets.fixture.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { API_CODES } from '../../src/services/snippets/problem-codes.ts'
import { codeServer, codeWorker, offering, ownFolder } from './code-grid.ts'

interface Envelope {
  readonly code: number
  readonly message: string
  readonly detail?: string
  readonly retryAfter?: number
  readonly data?: { readonly taskId: string }
}

/** Sends a request, compares the response with its row of the table, and records its code. */
function asker(url: string, received: Set<number>) {
  return async (path: string, init: RequestInit & { json?: unknown } = {}): Promise<Envelope> => {
    const { json, ...rest } = init
    const asJson = json !== undefined && { method: 'POST', body: JSON.stringify(json) }
    const headers = { ...(asJson && { 'content-type': 'application/json' }), ...init.headers }
    const response = await fetch(`${url}${path}`, { ...rest, ...asJson, headers })
    const reported = (await response.json()) as Envelope
    const row = Object.values(API_CODES).find(({ code }) => code === reported.code)
    expect([reported.message, response.status]).toEqual([row?.message, row?.status])
    if (reported.code !== 0) expect(reported.detail).toEqual(expect.any(String))
    expect(response.headers.get('retry-after')).toBe(
      reported.retryAfter === undefined ? null : String(reported.retryAfter),
    )
    received.add(reported.code)
    return reported
  }
}

const TASKS = '/api/v1/tasks'
const HELLO = { language: 'bash', code: 'echo hello' }

test('the API returns exactly the codes of its table', async () => {
  const received = new Set<number>()
  const server = await codeServer(ownFolder(), undefined, {
    WINDLASS_LIMITS_MAX_OPEN_TASKS_PER_INSTANCE: '2',
    WINDLASS_LIMITS_REQUESTS_PER_SECOND_PER_KEY: '0.01',
    WINDLASS_LIMITS_REQUEST_BURST_PER_KEY: '1',
  })
  await codeWorker(server, ['bash'])
  await offering(server, ['bash'])
  const ask = asker(server.httpUrl, received)
  const code = async (path: string, init?: Parameters<typeof ask>[1]) => (await ask(path, init)).code

  const { data } = await ask(`${TASKS}?wait=30s`, { json: HELLO, headers: { 'idempotency-key': 'k' } })
  expect(data).toMatchObject({ status: 'completed', result: { output: 'hello\n' } })
  expect(await code(TASKS, { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } })).toBe(40001)
  expect(await code(TASKS, { json: { language: 'bash' } })).toBe(40002)
  expect(await code(TASKS, { json: { ...HELLO, Code: '' } })).toBe(40003)
  expect(await code(TASKS, { json: { ...HELLO, language: 'cobol' } })).toBe(40004)
  expect(await code(TASKS, { json: { ...HELLO, version: '99' } })).toBe(40005)
  expect(await code(TASKS, { json: { ...HELLO, resourceLimit: { timeout: '30' } } })).toBe(40006)
  expect(await code(`${TASKS}?state=failed`)).toBe(40007)
  expect(await code(TASKS, { json: { ...HELLO, callback: { url: 'http://127.0.0.1/' } } })).toBe(40008)
  expect(await code(TASKS, { json: HELLO, headers: { origin: 'https://elsewhere.example' } })).toBe(40301)
  expect(await code(TASKS, { json: { ...HELLO, network: true } })).toBe(40302)
  expect(await code(`${TASKS}/task_none`)).toBe(40401)
  expect(await code(`${TASKS}/${data?.taskId}/artifacts/none`)).toBe(40402)
  expect([await code(`${TASKS}/a/b/c`), await code('/api/v1/languages/none')]).toEqual([40403, 40403])
  expect(await code(TASKS, { method: 'PUT' })).toBe(40501)
  expect(await code(TASKS, { json: { ...HELLO, stdin: 'x' }, headers: { 'idempotency-key': 'k' } })).toBe(40901)
  expect(await code(TASKS, { json: { ...HELLO, code: 'x'.repeat(9 * 1024 * 1024) } })).toBe(41301)
  expect(await code(TASKS, { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } })).toBe(41501)
  const keyed = { headers: { authorization: 'Bearer somebody' } }
  expect([await code('/api/v1/languages', keyed), await code('/api/v1/languages', keyed)]).toEqual([0, 42901])
  const long = await Promise.all([0, 1, 2].map(() => ask(TASKS, { json: { ...HELLO, code: 'sleep 60' } })))
  expect(long.map((each) => each.code).sort()).toEqual([0, 0, 42902])
  expect(long.find((each) => each.code === 42902)?.retryAfter).toBeGreaterThan(0)
  for (const each of long) if (each.data) await ask(`${TASKS}/${each.data.taskId}`, { method: 'DELETE' })
  const none = await ask(TASKS, { json: { language: 'ruby', code: '1' } })
  expect(none).toMatchObject({ code: 50301, retryAfter: 30 })

  const { url, ending } = await failingDoor()
  const askFailing = asker(url, received)
  expect((await askFailing('/api/v1/languages')).code).toBe(50001)
  ending.abort()
  expect((await askFailing(TASKS, { json: HELLO })).code).toBe(50302)

  expect([...received].sort()).toEqual(
    Object.values(API_CODES)
      .map((each) => each.code)
      .sort(),
  )
})

/** The API over a service with a bug in it. */
async function failingDoor() {
  const { service, instance, ending } = await snippetsGrid()
  const languages = () => {
    throw new TypeError('a bug')
  }
  const app = snippetsDoor({
    scopeOf: () => ({ caller: LOCAL_CALLER, instance: '' }),
    service: { ...service, languages },
    instances: () => instance,
    clock: systemClock,
    version: '1.2.3',
    ending: ending.signal,
  })
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, log: silentLog })
  onTestFinished(() => http.close(0))
  return { url: `http://${http.address}`, ending }
}
