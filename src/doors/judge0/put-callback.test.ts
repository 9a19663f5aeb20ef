import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import { putCallback } from './put-callback.ts'

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

const clock = manualClock()
const put = (url: string, mayBePrivate: boolean) => putCallback(url, '{}', { clock, mayBePrivate })

test('this machine is not called unless it may be, by whichever name', async () => {
  let calls = 0
  const url = await receiver((_, response) => {
    calls++
    response.end()
  })
  expect(await put(url, false)).toBe(false)
  expect(await put(url.replace('127.0.0.1', 'localhost'), false)).toBe(false)
  expect(await put(url.replace('127.0.0.1', '2130706433'), false)).toBe(false)
  expect(calls).toBe(0)
  expect(await put(url, true)).toBe(true)
  expect(calls).toBe(1)
})

test('a redirect is not followed, and who does not answer is not waited for', async () => {
  let calls = 0
  const url = await receiver((_, response) => {
    calls++
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await put(url, true)).toBe(false)
  expect(calls).toBe(1)
  const silent = await receiver(() => clock.advance(5000))
  expect(await put(silent, true)).toBe(false)
})
