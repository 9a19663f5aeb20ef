import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { createServer } from '../../src/grpc/server/server.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { outputPieceFromProto } from '../../src/wire/workers/report.ts'
import { outputLine } from '../../src/worker/links/output-line.ts'

const timing = { now: systemClock.monotonic, after: systemClock.after }
const PIECE = 64 * 1024

interface Wish {
  /** The server does not implement the method. */
  readonly isUnknown?: boolean
}

/** A real server that receives output, and that the test can hold or break. */
async function listening({ isUnknown = false }: Wish = {}) {
  const pieces: { attemptId: string; stream: string; at: number | undefined; text: string }[] = []
  let calls = 0
  let stop = Promise.withResolvers<never>()
  stop.promise.catch(() => {})
  let gate: Promise<void> = Promise.resolve()
  const server = createServer({
    services: [
      {
        name: 'windlass.worker.v1.WorkerLink',
        methods: isUnknown
          ? {}
          : {
              ReportOutput: {
                kind: 'clientStreaming',
                async handle(requests) {
                  calls++
                  for (;;) {
                    await gate
                    const message = await Promise.race([requests.next(), stop.promise])
                    if (message === undefined) return new Uint8Array()
                    const { attemptId, stream, at, bytes } = outputPieceFromProto(message)
                    pieces.push({ attemptId, stream, at, text: Buffer.from(bytes).toString() })
                  }
                },
              },
            },
      },
    ],
    timing,
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const channel = createChannel({ address, timing })
  const clock = manualClock()
  const line = outputLine({ channel, clock, worker: 'w1' })
  onTestFinished(() => {
    line.close()
    channel.close()
    server.close()
  })
  return {
    pieces,
    clock,
    line,
    calls: () => calls,
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    breakOff() {
      const { reject } = stop
      stop = Promise.withResolvers<never>()
      stop.promise.catch(() => {})
      reject(new GrpcError(STATUS.unavailable, 'broken off'))
    },
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 120_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come about')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

test('small chunks of output are batched per stream and attempt, and carry their offset', async () => {
  const { line, clock, pieces } = await listening()
  for (const text of ['a', 'b', 'c']) line.print('one', 'stdout', Buffer.from(text))
  line.print('one', 'stderr', Buffer.from('oops'))
  line.print('two', 'stdout', Buffer.from('x'))
  clock.advance(20)
  await until(() => pieces.length === 3)
  line.print('one', 'stdout', Buffer.from('de'))
  clock.advance(20)
  await until(() => pieces.length === 4)
  expect(pieces).toEqual([
    { attemptId: 'one', stream: 'stdout', at: 0, text: 'abc' },
    { attemptId: 'one', stream: 'stderr', at: 0, text: 'oops' },
    { attemptId: 'two', stream: 'stdout', at: 0, text: 'x' },
    { attemptId: 'one', stream: 'stdout', at: 3, text: 'de' },
  ])
  expect(clock.pending()).toBe(0)
})

test('output of a full chunk is sent at once, and none is lost while the stream opens', async () => {
  const { line, pieces } = await listening()
  line.print('one', 'stdout', Buffer.alloc(2 * PIECE + 10, 'x'))
  const printed = () => pieces.reduce((sum, { text }) => sum + text.length, 0)
  await until(() => printed() >= 2 * PIECE)
  expect(pieces[0]).toMatchObject({ at: 0, text: 'x'.repeat(PIECE) })
  expect(pieces[1]).toMatchObject({ at: PIECE, text: 'x'.repeat(PIECE) })
})

test('the last output is sent at the end of its attempt, unless the result contains it', async () => {
  const { line, pieces } = await listening()
  line.print('one', 'stdout', Buffer.from('in the result'))
  line.ended('one', true)
  line.print('two', 'stdout', Buffer.from('bye'))
  line.ended('two', false)
  line.ended('never seen', false)
  await until(() => pieces.length === 1)
  expect(pieces).toEqual([{ attemptId: 'two', stream: 'stdout', at: 0, text: 'bye' }])
})

test('output bytes are copied, so that the caller may change them afterwards', async () => {
  const { line, clock, pieces } = await listening()
  const bytes = Buffer.from('abc')
  line.print('one', 'stdout', bytes)
  bytes.fill('x')
  clock.advance(20)
  await until(() => pieces.length === 1)
  expect(pieces[0]?.text).toBe('abc')
})

test("a slow server misses the middle of the output, and the worker's memory does not grow", async () => {
  const { line, clock, pieces, hold } = await listening()
  const open = hold()
  const line64 = Buffer.alloc(PIECE, 'x')
  for (let i = 0; i < 2000; i++) line.print('one', 'stdout', line64)
  const held = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 2000; i++) line.print('one', 'stdout', line64)
  expect(process.memoryUsage().arrayBuffers - held).toBeLessThan(50 * PIECE)
  open()
  await until(() => {
    line.print('one', 'stdout', Buffer.from('!'))
    clock.advance(20)
    return pieces.some(({ text }) => text.endsWith('!'))
  })
  const last = pieces.findLast(({ text }) => text.endsWith('!'))
  expect(last?.at).toBeGreaterThanOrEqual(3999 * PIECE)
  expect(pieces.length).toBeLessThan(3000)
})

test('an interrupted output stream is reopened after a pause, and the offsets show the lost output', async () => {
  const { line, clock, pieces, breakOff, calls } = await listening()
  const send = (text: string): void => {
    line.print('one', 'stdout', Buffer.from(text))
    clock.advance(20)
  }
  send('before')
  await until(() => pieces.length === 1)
  breakOff()
  await until(() => {
    send('.')
    return pieces.length === 1
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  send('lost')
  expect(calls()).toBe(1)
  clock.advance(1000)
  send('after')
  await until(() => pieces.some(({ text }) => text === 'after'))
  expect(calls()).toBe(2)
  const after = pieces.find(({ text }) => text === 'after')
  expect(after?.at).toBeGreaterThan('before'.length)
})

test('a server without ReportOutput is not retried within 100 s', async () => {
  const { line, clock } = await listening({ isUnknown: true })
  line.print('one', 'stdout', Buffer.from('abc'))
  clock.advance(20)
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (let i = 0; i < 100; i++) {
    line.print('one', 'stdout', Buffer.alloc(PIECE))
    clock.advance(1000)
  }
  expect(clock.pending()).toBe(0)
})
