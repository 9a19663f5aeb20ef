import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../../base/clock.ts'
import { createServer } from '../../grpc/server/server.ts'
import type { Outgoing, Service } from '../../grpc/service.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import { followFromProto, printedToProto } from '../../wire/admin/grid.ts'
import { readReadRequest, readResponse } from '../../wire/hot/byte-stream.ts'
import { connect } from '../connection/connect.ts'
import { rpcClient } from '../connection/rpc.ts'
import { parseTarget, type Target } from '../connection/target.ts'
import { LiveOutput } from './live-output.ts'
import { showLive, type TailOptions } from './output-tail.ts'

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

async function shownFrom(services: readonly Service[], more: Partial<TailOptions> = {}): Promise<string> {
  const server = createServer({ services, timing: { now: clock.monotonic, after: clock.after } })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in address)) throw new Error('no port')
  const channel = connect(parseTarget(`127.0.0.1:${address.port}`) as Target, { clock })
  onTestFinished(() => {
    channel.close()
    server.close()
  })
  let shown = ''
  const output = new LiveOutput({
    async write(stream, bytes) {
      shown += `${stream === 'stdout' ? '' : '!'}${Buffer.from(bytes)}`
      return true
    },
    differs() {},
  })
  await showLive({
    ...{ rpcs: rpcClient(channel), operation: 'operations/1', streams: undefined, output },
    ...{ pause: async () => {}, signal: new AbortController().signal },
    ...more,
  })
  return shown
}

const piece = (text: string, missed = 0) =>
  printedToProto({ stream: 'stdout', attempt: 1, bytes: Buffer.from(text), missed })

const following = (...tellings: readonly ((out: Outgoing) => Promise<void> | void)[]): Service => {
  let call = 0
  return {
    name: 'windlass.grid.v1.GridAdmin',
    methods: {
      FollowOutput: {
        kind: 'serverStreaming',
        handle(bytes, out) {
          expect(followFromProto(bytes).name).toBe('operations/1')
          return tellings[call++]?.(out)
        },
      },
    },
  }
}

test('an interrupted FollowOutput is resumed, and nothing is shown twice', async () => {
  const service = following(
    async (out) => {
      out.write(piece('one '))
      out.write(piece('two '))
      await out.sent()
      await new Promise((resolve) => setTimeout(resolve, 50)) // until the client has read the pieces
      throw new GrpcError(STATUS.unavailable, 'going down')
    },
    () => {
      throw new GrpcError(STATUS.unavailable, 'not up yet')
    },
    (out) => {
      for (const text of ['one ', 'two ', 'three']) out.write(piece(text))
    },
  )
  expect(await shownFrom([service])).toBe('one two three')
})

test.each([STATUS.notFound, STATUS.permissionDenied, STATUS.internal])(
  'FollowOutput that fails with code %i is not retried',
  async (code) => {
    const service = following(() => {
      throw new GrpcError(code, 'no')
    })
    expect(await shownFrom([service])).toBe('')
  },
)

test('without FollowOutput, output is read by the log stream names of the operation', async () => {
  const logs: Record<string, string> = { 'logs/out': 'printed', 'logs/err': 'odd' }
  const byteStream: Service = {
    name: 'google.bytestream.ByteStream',
    methods: {
      Read: {
        kind: 'serverStreaming',
        handle(bytes, out) {
          const text = logs[readReadRequest(bytes).resourceName] ?? ''
          for (const char of text) out.write(readResponse(Buffer.from(char)))
        },
      },
    },
  }
  const both = await shownFrom([byteStream], { streams: { stdout: 'logs/out', stderr: 'logs/err' } })
  expect(both.replace(/!./g, '')).toBe('printed')
  expect(both.replace(/[^!]*!(.)|[^!]*/g, '$1')).toBe('odd')
  expect(await shownFrom([byteStream], { streams: { stdout: '', stderr: 'logs/err' } })).toBe('!o!d!d')
  expect(await shownFrom([byteStream])).toBe('')
})
