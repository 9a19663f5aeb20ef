import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../../base/clock.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { createServer } from '../../grpc/server/server.ts'
import type { Outgoing } from '../../grpc/service.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import {
  type ExecutionOperation,
  executeRequestFromProto,
  executionOperationToProto,
  REQUEST_METADATA_HEADER,
  requestMetadataFromProto,
  waitExecutionRequestFromProto,
} from '../../wire/reapi/execution.ts'
import { connect } from '../connection/connect.ts'
import { rpcClient } from '../connection/rpc.ts'
import { parseTarget, type Target } from '../connection/target.ts'
import { type ExecutionOptions, executionClient } from './execution-client.ts'

const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

const actionDigest = digestOf('sha256', Buffer.from('action'))
const REQUEST = {
  ...{ instance: 'main', actionDigest, skipCacheLookup: true, priority: -3, cachePriority: 0 },
  inline: { inlineStdout: true, inlineStderr: true, inlineOutputFiles: [] },
}
const ABOUT = {
  ...{ toolName: 'windlass', toolVersion: '1', actionId: '', toolInvocationId: 'i', correlatedInvocationsId: '' },
  ...{ actionMnemonic: 'run', targetId: '', configurationId: '' },
}

const operation = (stage: ExecutionOperation['stage'], name = 'operations/1'): Uint8Array =>
  executionOperationToProto({
    ...{ name, stage, actionDigest, partial: undefined, streams: undefined },
    response:
      stage === 'completed'
        ? { result: undefined, cached: false, status: { code: 0, message: '', details: [] }, message: '' }
        : undefined,
  })

type Step = (out: Outgoing) => void | Promise<void>

/** A server that runs one step per call, and records the requests. */
async function scripted(...steps: readonly Step[]) {
  const asked: string[] = []
  let step = 0
  const next = async (out: Outgoing): Promise<void> => await steps[step++]?.(out)
  const server = createServer({
    timing: { now: systemClock.monotonic, after: systemClock.after },
    services: [
      {
        name: 'build.bazel.remote.execution.v2.Execution',
        methods: {
          Execute: {
            kind: 'serverStreaming',
            handle(bytes, out, call) {
              const { instance, priority } = executeRequestFromProto(bytes)
              const [about] = call.metadata.getBinary(REQUEST_METADATA_HEADER)
              asked.push(
                `execute ${instance} ${priority} ${about && requestMetadataFromProto(about)?.toolInvocationId}`,
              )
              return next(out)
            },
          },
          WaitExecution: {
            kind: 'serverStreaming',
            handle(bytes, out) {
              asked.push(`wait ${waitExecutionRequestFromProto(bytes)}`)
              return next(out)
            },
          },
        },
      },
      {
        name: 'google.longrunning.Operations',
        methods: {
          CancelOperation: {
            kind: 'unary',
            handle(bytes) {
              asked.push(`cancel ${waitExecutionRequestFromProto(bytes)}`)
              return new Uint8Array()
            },
          },
        },
      },
    ],
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in address)) throw new Error('no port')
  const channel = connect(parseTarget(`127.0.0.1:${address.port}`) as Target, { clock: systemClock })
  onTestFinished(() => {
    channel.close()
    server.close()
  })
  const client = (more: Partial<ExecutionOptions> = {}) =>
    executionClient({
      rpcs: rpcClient(channel),
      about: ABOUT,
      monotonic: systemClock.monotonic,
      pause: async () => {},
      signal: new AbortController().signal,
      dropped: ({ message }) => void asked.push(`dropped: ${message}`),
      ...more,
    })
  return { client, asked }
}

async function stages(operations: AsyncIterable<ExecutionOperation>): Promise<string[]> {
  const seen: string[] = []
  for await (const { stage } of operations) seen.push(stage)
  return seen
}

const fail =
  (code: GrpcError['code'], message: string): Step =>
  () => {
    throw new GrpcError(code, message)
  }
const tell =
  (...messages: readonly Uint8Array[]): Step =>
  (out) => {
    for (const message of messages) out.write(message)
  }

test('execute follows an operation until it is completed', async () => {
  const { client, asked } = await scripted(tell(operation('queued'), operation('executing'), operation('completed')))
  expect(await stages(client().execute(REQUEST))).toEqual(['queued', 'executing', 'completed'])
  expect(asked).toEqual(['execute main -3 i'])
})

test('a broken stream is resumed with WaitExecution', async () => {
  const heard = Promise.withResolvers<void>()
  const { client, asked } = await scripted(
    async (out) => {
      out.write(operation('queued'))
      await heard.promise
      throw new GrpcError(STATUS.unavailable, 'going down')
    },
    fail(STATUS.unavailable, 'not up yet'),
    tell(operation('executing')), // and ends without an error
    tell(operation('completed')),
  )
  const seen: string[] = []
  for await (const { stage } of client().execute(REQUEST)) {
    seen.push(stage)
    heard.resolve()
  }
  expect(seen).toEqual(['queued', 'executing', 'completed'])
  expect(asked).toEqual([
    'execute main -3 i',
    'dropped: going down',
    'wait operations/1',
    'dropped: not up yet',
    'wait operations/1',
    'dropped: the connection ended before the operation did',
    'wait operations/1',
  ])
})

test('execute is sent again when WaitExecution returns NOT_FOUND', async () => {
  const { client, asked } = await scripted(
    tell(operation('queued')),
    fail(STATUS.notFound, 'no such operation'),
    tell(operation('completed', 'operations/2')),
  )
  expect(await stages(client().execute(REQUEST))).toEqual(['queued', 'completed'])
  expect(asked.filter((line) => !line.startsWith('dropped'))).toEqual([
    'execute main -3 i',
    'wait operations/1',
    'execute main -3 i',
  ])
})

test('execute is sent at most 4 times when WaitExecution keeps returning NOT_FOUND', async () => {
  const forget = Array.from({ length: 20 }, () => [
    tell(operation('queued')),
    fail(STATUS.notFound, 'no such operation'),
  ])
  const { client, asked } = await scripted(...forget.flat())
  await expect(stages(client().execute(REQUEST))).rejects.toMatchObject({ code: STATUS.notFound })
  expect(asked.filter((line) => line.startsWith('execute'))).toHaveLength(4)
})

test('INVALID_ARGUMENT is returned and not retried', async () => {
  const { client, asked } = await scripted(fail(STATUS.invalidArgument, 'no such platform'))
  await expect(stages(client().execute(REQUEST))).rejects.toMatchObject({ message: 'no such platform' })
  expect(asked).toEqual(['execute main -3 i'])
})

test('UNAVAILABLE is retried for about 60 s, with pauses of 100 ms to 2 s', async () => {
  const { client } = await scripted(...Array<Step>(1000).fill(fail(STATUS.unavailable, 'gone')))
  let now = 0
  const pauses: number[] = []
  const pause = async (ms: number) => {
    pauses.push(ms)
    now += ms
  }
  await expect(stages(client({ monotonic: () => now, pause }).execute(REQUEST))).rejects.toMatchObject({
    message: 'gone',
  })
  expect(pauses.slice(0, 6)).toEqual([100, 200, 400, 800, 1600, 2000])
  expect(now).toBeGreaterThan(60_000)
  expect(now).toBeLessThan(70_000)
})

test('attach waits for an operation, and never sends Execute', async () => {
  const { client, asked } = await scripted(
    tell(operation('executing'), operation('completed')),
    fail(STATUS.notFound, 'no'),
  )
  expect(await stages(client().attach('operations/7'))).toEqual(['executing', 'completed'])
  await expect(stages(client().attach('operations/8'))).rejects.toMatchObject({ code: STATUS.notFound })
  expect(asked).toEqual(['wait operations/7', 'wait operations/8'])
})

test('an aborted client fails with CANCELLED during a pause, and can still cancel the operation', async () => {
  const leaving = new AbortController()
  const { client, asked } = await scripted(tell(operation('queued')), fail(STATUS.unavailable, 'away'))
  const ours = client({
    signal: leaving.signal,
    pause: () => new Promise<void>(() => {}),
    dropped: () => setImmediate(() => leaving.abort()),
  })
  await expect(stages(ours.execute(REQUEST))).rejects.toMatchObject({ code: STATUS.cancelled })
  await ours.cancel('operations/1')
  expect(asked).toEqual(['execute main -3 i', 'cancel operations/1'])
})

test('a malformed operation from the server is an error', async () => {
  const { client } = await scripted(tell(Uint8Array.of(0x0a, 0x05, 1)))
  await expect(stages(client().execute(REQUEST))).rejects.toThrow()
})
