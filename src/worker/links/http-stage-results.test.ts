import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import { httpCaller } from './http-caller.ts'
import { httpStageResults } from './http-stage-results.ts'

const PATH = '/api/v1/workers/w1/tasks/t.1.1/stage'

/** A server that stores one stage result, until the test makes it fail. */
async function server() {
  const answers = { status: 200 }
  const kept = new Map<string, string>()
  const here = createServer(async (request, response) => {
    const { method, url = '' } = request
    if (answers.status === 0) return void response.destroy()
    if (answers.status !== 200) return void response.writeHead(answers.status).end('no')
    const { pathname, searchParams } = new URL(url, 'http://here')
    if (method === 'PUT') {
      const { conditions, result } = (await json(request)) as { conditions: string; result: string }
      kept.set(`${pathname} ${conditions}`, result)
    }
    const result = kept.get(`${pathname} ${searchParams.get('conditions')}`)
    if (method === 'GET' && result === undefined) return void response.writeHead(204).end()
    response.writeHead(200).end(JSON.stringify({ data: { result } }))
  })
  here.listen(0, '127.0.0.1')
  await once(here, 'listening')
  const url = `http://127.0.0.1:${(here.address() as AddressInfo).port}`
  const caller = httpCaller({ url, clock: manualClock() })
  onTestFinished(() => {
    caller.close()
    here.closeAllConnections()
    here.close()
  })
  return { answers, results: httpStageResults({ caller, path: PATH }) }
}

test('a stage result is returned only for the same conditions', async () => {
  const { results } = await server()
  expect(await results.get('["c","gcc 12"]')).toBeUndefined()
  await results.put('["c","gcc 12"]', Buffer.from([0, 255, 10]))
  expect([...((await results.get('["c","gcc 12"]')) ?? [])]).toEqual([0, 255, 10])
  expect(await results.get('["c","gcc 13"]')).toBeUndefined()
})

test.each([403, 404, 500, 503, 0])('a server response of %i makes get and put fail as unavailable', async (status) => {
  const { answers, results } = await server()
  answers.status = status
  for (const asked of [results.get('x'), results.put('x', Buffer.from('x'))])
    await expect(asked).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
})
