import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { digestOf } from '../../storage/blobs.fixture.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { httpCaller } from '../links/http-caller.ts'
import { httpResults } from './http-results.ts'

/** A cache that keeps what it is given, until it is told to fail. */
async function cache() {
  const kept = new Map<string, Buffer>()
  const answers = { status: 200 }
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request
    if (answers.status === 0) return void response.destroy()
    if (answers.status !== 200) return void response.writeHead(answers.status).end('no')
    const found = kept.get(url)
    if (method === 'PUT') kept.set(url, await buffer(request))
    response.writeHead(method === 'PUT' || found ? 200 : 404).end(method === 'PUT' ? '' : found)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caller = httpCaller({ url, clock: manualClock() })
  onTestFinished(() => {
    caller.close()
    server.closeAllConnections()
    server.close()
  })
  return { kept, answers, caller }
}

const NAME = digestOf(Buffer.from('a stage'))

test('what is put is got again, by its instance', async () => {
  const { caller, kept } = await cache()
  const results = httpResults(caller, 'team/é x')
  expect(await results.get(NAME)).toBeUndefined()
  await results.put(NAME, Buffer.from([0, 255, 10]))
  expect([...((await results.get(NAME)) ?? [])]).toEqual([0, 255, 10])
  expect([...kept.keys()]).toEqual([`/team/%C3%A9%20x/ac/${NAME.hash}`])
  expect(await httpResults(caller, '').get(NAME)).toBeUndefined()
})

test.each([403, 500, 503, 0])('a cache that answers %i is told as a fault, which no task fails by', async (status) => {
  const { caller, answers } = await cache()
  answers.status = status
  const results = httpResults(caller, '')
  for (const asked of [results.get(NAME), results.put(NAME, Buffer.from('x'))])
    await expect(asked).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
})
