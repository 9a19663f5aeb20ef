import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { type InteropClient, type Outcome, SERVICE } from './conversation.ts'
import { asIs, grpcJsClient, toBuffer } from './grpc-js-client.ts'
import { recordingObserver } from './recording-observer.ts'
import { payload } from './requests.ts'
import { socketPlace, startedHere } from './started.ts'
import { windlassClient } from './windlass-client.ts'
import { timing, windlassServer } from './windlass-server.ts'

/** How connections end and are replaced: draining and restarts. */
const started = startedHere()
const BIDI = `/${SERVICE}/Bidi`
const GRACE_MS = 25_000

/** A started Bidi call of any client. */
interface RunningCall {
  /** Sends a message and returns the response. */
  say(message: Buffer): Promise<Buffer>
  /** Rejects unless the call ends with OK. */
  finish(): Promise<void>
}

function ourCall(channel: Channel): RunningCall {
  const call = channel.open(BIDI)
  return {
    async say(message) {
      call.write(message)
      return Buffer.from((await call.next()) ?? [])
    },
    async finish() {
      call.finish()
      expect(await call.next()).toBeUndefined()
      await call.trailers
    },
  }
}

function grpcJsCall(client: Client): RunningCall {
  const call = client.makeBidiStreamRequest(BIDI, toBuffer, asIs)
  const answers = call[Symbol.asyncIterator]()
  return {
    async say(message) {
      call.write(message)
      return (await answers.next()).value
    },
    async finish() {
      call.end()
      expect((await answers.next()).done).toBe(true)
    },
  }
}

const unary = (client: InteropClient): Promise<Outcome> =>
  client.converse({ method: `/${SERVICE}/Unary`, kind: 'unary', messages: [payload(3)] })

/** Calls until the server responds: clients differ in how soon they reconnect. */
async function unaryAtLast(client: InteropClient): Promise<Outcome> {
  for (;;) {
    const outcome = await unary(client)
    if (outcome.code !== STATUS.unavailable) return outcome
    await sleep(10)
  }
}

test.each(['ours', 'grpc-js'])('500 concurrent calls share one connection (%s)', async (whose) => {
  const observer = recordingObserver()
  const { address } = await started(windlassServer({ observer }))
  const client = await started(whose === 'ours' ? windlassClient(address) : grpcJsClient(address))
  const outcomes = await Promise.all(Array.from({ length: 500 }, () => unary(client)))
  expect(outcomes.every(({ code }) => code === STATUS.ok)).toBe(true)
  expect(observer.opened).toBe(1)
  expect(observer.finished).toHaveLength(500)
})

describe('a draining server', () => {
  test.each(['ours', 'grpc-js'])('lets a running call complete and accepts no new connection (%s)', async (whose) => {
    const observer = recordingObserver()
    const { server, address } = await started(windlassServer({ observer }))
    const channel = await started(createChannel({ address, timing }))
    const other = await started(grpcJsClient(address))
    const call = whose === 'ours' ? ourCall(channel) : grpcJsCall(other.client)
    expect(await call.say(payload(1))).toEqual(payload(1))
    const drained = server.drain(GRACE_MS)
    const late = await started(windlassClient(address))
    expect(await unary(late)).toMatchObject({ code: STATUS.unavailable, message: /cannot connect/ })
    expect(await call.say(payload(70_000))).toEqual(payload(70_000))
    await call.finish()
    await drained
    expect(observer.finished).toEqual([{ method: 'Bidi', code: STATUS.ok }])
    expect(observer.closed.every(({ code, flood }) => code === 0 && flood === undefined)).toBe(true)
  })

  test.each(['ours', 'grpc-js'])('directs new calls of the same client to its successor (%s)', async (whose) => {
    const { path } = await started(socketPlace())
    const first = await started(windlassServer({ address: { path } }))
    const channel = await started(createChannel({ address: { path }, timing }))
    const other = await started(grpcJsClient({ path }))
    const call = whose === 'ours' ? ourCall(channel) : grpcJsCall(other.client)
    expect(await call.say(payload(1))).toEqual(payload(1))
    const drained = first.server.drain(GRACE_MS)
    const observer = recordingObserver()
    await started(windlassServer({ address: { path }, observer }))
    const client: InteropClient = whose === 'ours' ? overChannel(channel) : other
    expect(await untilSeen(() => observer.finished.length > 0, client)).toMatchObject({ code: STATUS.ok })
    expect(await call.say(payload(2))).toEqual(payload(2))
    await call.finish()
    await drained
  })

  test('closes at once when no call runs', async () => {
    const { server, address } = await started(windlassServer())
    expect(await unary(await started(windlassClient(address)))).toMatchObject({ code: STATUS.ok })
    expect(await unary(await started(grpcJsClient(address)))).toMatchObject({ code: STATUS.ok })
    await server.drain(GRACE_MS) // longer than the test may take
  })

  test('cancels calls that do not end within the grace time', async () => {
    const observer = recordingObserver()
    const { server, address } = await started(windlassServer({ observer }))
    const call = ourCall(await started(createChannel({ address, timing })))
    await call.say(payload(1))
    await server.drain(150)
    await expect(call.finish()).rejects.toMatchObject({ code: STATUS.unavailable })
    expect(observer.finished).toEqual([{ method: 'Bidi', code: STATUS.cancelled }])
  })
})

describe('a server that restarts', () => {
  test('is reconnected by our client, whose calls fail with UNAVAILABLE meanwhile', async () => {
    const { path } = await started(socketPlace())
    const first = await started(windlassServer({ address: { path } }))
    const channel = await started(createChannel({ address: { path }, timing, minBackoffMs: 1 }))
    const call = ourCall(channel)
    await call.say(payload(1))
    await first.close()
    await expect(call.say(payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
    await expect(channel.unary(`/${SERVICE}/Unary`, payload(1))).rejects.toMatchObject({ code: STATUS.unavailable })
    await started(windlassServer({ address: { path } }))
    expect(await unaryAtLast(overChannel(channel))).toMatchObject({ code: STATUS.ok })
  })

  test('is reconnected by a grpc-js client', async () => {
    const { path } = await started(socketPlace())
    const first = await started(windlassServer({ address: { path } }))
    const client = await started(grpcJsClient({ path }, undefined, { 'grpc.initial_reconnect_backoff_ms': 10 }))
    expect(await unary(client)).toMatchObject({ code: STATUS.ok })
    await first.close()
    await started(windlassServer({ address: { path } }))
    expect(await unaryAtLast(client)).toMatchObject({ code: STATUS.ok })
  })
})

const overChannel = (channel: Channel): InteropClient => ({
  async converse({ method, messages }) {
    const outcome = { answers: [], headers: {}, trailers: {}, details: undefined }
    try {
      const { message } = await channel.unary(method, messages[0] as Uint8Array)
      return { ...outcome, code: STATUS.ok, message: '', answers: [Buffer.from(message)] }
    } catch (error) {
      return { ...outcome, ...(error as { code: number; message: string }) }
    }
  },
  close() {},
})

/** Calls until one has reached the observed server; every call must succeed, whichever server it reached. */
async function untilSeen(isSeen: () => boolean, client: InteropClient): Promise<Outcome> {
  for (;;) {
    const outcome = await unary(client)
    expect(outcome.code).toBe(STATUS.ok)
    if (isSeen()) return outcome
    await sleep(10)
  }
}
