import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { FRAME_TYPE } from '../../src/grpc/http2/wire-format.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { SERVICE } from './conversation.ts'
import { frameCounter } from './frame-counter.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { recordingObserver } from './recording-observer.ts'
import { payload } from './requests.ts'
import { startedHere } from './started.ts'
import { windlassClient } from './windlass-client.ts'
import { timing, windlassServer } from './windlass-server.ts'

const started = startedHere()
const UNARY = { method: `/${SERVICE}/Unary`, kind: 'unary', messages: [payload(3)] } as const
const SLOW = `/${SERVICE}/Slow`
const { handshakeMs, keepaliveMs, keepaliveTimeoutMs } = DEFAULT_LIMITS
const LONG_SILENCE_MS = 2 * (handshakeMs + keepaliveMs + keepaliveTimeoutMs)

function byHand() {
  const clock = manualClock()
  return { advance: clock.advance, timing: { now: clock.monotonic, after: clock.after } }
}

test('50 keepalive pings of a grpc-js client, 5 ms apart, do not close its connection', async () => {
  const observer = recordingObserver()
  const between = await started(frameCounter((await started(windlassServer({ observer }))).address))
  const options = { 'grpc.keepalive_time_ms': 5, 'grpc.keepalive_permit_without_calls': 1 }
  const client = await started(grpcJsClient(between.address, undefined, options))
  expect(await client.converse(UNARY)).toMatchObject({ code: STATUS.ok })
  while (between.count(FRAME_TYPE.ping) < 50) await sleep(5)
  expect(await client.converse(UNARY)).toMatchObject({ code: STATUS.ok })
  expect(observer).toMatchObject({ opened: 1, closed: [] })
})

test('a client pings a silent server every keepaliveMs and keeps the connection when it responds', async () => {
  const observer = recordingObserver()
  const clock = byHand()
  const between = await started(frameCounter((await started(windlassServer({ observer }))).address))
  const client = await started(windlassClient(between.address, { timing: clock.timing }))
  for (let round = 1; round <= 5; round++) {
    // The response arrives after the acknowledgement of the keepalive before it.
    expect(await client.converse(UNARY)).toMatchObject({ code: STATUS.ok })
    expect(between.count(FRAME_TYPE.ping)).toBe(round - 1)
    clock.advance(keepaliveMs + keepaliveTimeoutMs - 1)
  }
  expect(await client.converse(UNARY)).toMatchObject({ code: STATUS.ok })
  expect(observer).toMatchObject({ opened: 1, closed: [] })
})

test('a client ends its calls with UNAVAILABLE when the server does not acknowledge keepalives', async () => {
  const clock = byHand()
  const between = await started(frameCounter((await started(windlassServer())).address))
  const call = (await started(createChannel({ address: between.address, timing: clock.timing }))).open(SLOW)
  call.write(payload(1))
  call.finish()
  await call.next()
  between.hold()
  clock.advance(LONG_SILENCE_MS)
  await expect(call.next()).rejects.toMatchObject({ code: STATUS.unavailable })
})

test('a server closes the connection of a client that does not acknowledge keepalives', async () => {
  const observer = recordingObserver()
  const clock = byHand()
  const between = await started(frameCounter((await started(windlassServer({ observer, ...clock }))).address))
  const call = (await started(createChannel({ address: between.address, timing }))).open(SLOW)
  call.write(payload(1))
  call.finish()
  await call.next()
  between.hold()
  clock.advance(LONG_SILENCE_MS)
  expect(observer.finished).toEqual([{ method: 'Slow', code: STATUS.cancelled }])
  expect(observer.closed).toHaveLength(1)
})
