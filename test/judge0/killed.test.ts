/** Callbacks of the Judge0 API survive a restart like all others. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { signatureOf } from '../../src/services/snippets/callbacks/post-callback.ts'
import { codeWorker, offering, ownFolder } from '../snippets/code-grid.ts'
import { serverProcess } from '../snippets/server-process.ts'

interface Heard {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of callbacks that refuses them with 503 until it is ready. */
async function receiver() {
  const received: Heard[] = []
  const ready = { now: false }
  const server = createServer(async (request: IncomingMessage, response) => {
    received.push({ method: request.method, headers: request.headers, body: await text(request) })
    response.writeHead(ready.now ? 204 : 503).end()
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { heard: received, ready, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/done` }
}

const [BASH, SECRET] = [46, 'of the server']

test('a callback is sent although the server is killed before its task ends, or between two tries', async () => {
  const { heard: received, ready, url: callback_url } = await receiver()
  const server = await serverProcess(ownFolder(), {
    WINDLASS_SNIPPETS_CALLBACKS_TO_PRIVATE_ADDRESSES: 'true',
    WINDLASS_SNIPPETS_CALLBACK_SECRET: SECRET,
  })
  await codeWorker(server)
  await offering(server, ['bash'])
  const submit = async (source_code: string): Promise<string> => {
    const response = await fetch(`${server.httpUrl}/submissions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ language_id: BASH, source_code, number_of_runs: 2, callback_url }),
    })
    expect(response.status).toBe(201)
    return ((await response.json()) as { token: string }).token
  }
  const over = await submit('echo over')
  await expect.poll(() => received.length).toBe(1)
  const open = await submit('sleep 1; echo open')
  await server.kill()
  ready.now = true

  await server.again()
  await expect.poll(() => taken(received, over)).toBeDefined()
  await expect.poll(() => taken(received, open)).toBeDefined()
  for (const [token, printed] of [
    [over, 'over\n'],
    [open, 'open\n'],
  ] as const) {
    const { method, headers, body } = taken(received, token) as Heard
    const stdout = Buffer.from(printed).toString('base64')
    expect([method, JSON.parse(body)]).toEqual(['PUT', expect.objectContaining({ token, stdout })])
    const seconds = Number(headers['windlass-timestamp'])
    expect(headers['windlass-signature']).toBe(`v1=${signatureOf(SECRET, seconds, body)}`)
  }
  const task = `task_${over.replaceAll('-', '')}`
  const log = (await (await fetch(`${server.httpUrl}/api/v1/tasks/${task}/deliveries`)).json()) as {
    data: { state: string; tries: { status?: number }[] }
  }
  expect(log.data.state).toBe('delivered')
  expect(log.data.tries.map(({ status }) => status)).toEqual([503, 204])
})

/** The last callback for a token; the first one was refused. */
const taken = (received: readonly Heard[], token: string): Heard | undefined =>
  received.slice(1).find(({ body }) => (JSON.parse(body) as { token: string }).token === token)
