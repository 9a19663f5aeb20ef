import type { ClientStream } from '../../src/grpc/client/client-call.ts'
import { ClientConnection } from '../../src/grpc/client/client-connection.ts'
import type { HeaderPair } from '../../src/grpc/header-text.ts'
import type { ConnectionEnd } from '../../src/grpc/http2/connection-host.ts'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { ERROR } from '../../src/grpc/http2/wire-format.ts'
import { GrpcError } from '../../src/grpc/status.ts'
import { TimerWheel } from '../../src/grpc/timer-wheel.ts'
import { BareSocket } from './bare-socket.ts'
import { bytesOf, type Input } from './input.ts'
import { judgeOutput } from './judge-output.ts'
import { JumpingTiming } from './jumping-timing.ts'
import { takeStep } from './server-target.ts'
import type { Run } from './target.ts'

const HEAD: readonly HeaderPair[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/fuzz.Fuzz/Echo'],
  [':authority', 'localhost'],
  ['te', 'trailers'],
  ['content-type', 'application/grpc'],
]
const MESSAGE = Buffer.alloc(100, 3)
const LARGE = Buffer.alloc(100_000, 4)

/** Five calls of different kinds, against a server that may send anything. */
export function clientRun(input: Input): Run {
  const timing = new JumpingTiming()
  const socket = new BareSocket()
  const problems: string[] = []
  const closed: ConnectionEnd[] = []
  const ended: number[] = []
  let reading = 0
  const connection = new ClientConnection({
    socket: socket.asDuplex(),
    limits: DEFAULT_LIMITS,
    timing,
    wheel: new TimerWheel(timing),
    onChange() {},
    onClosed: (end) => closed.push(end),
  })
  const read = async (call: ClientStream): Promise<void> => {
    reading++
    try {
      for await (const message of call) if (message.length > DEFAULT_LIMITS.maxMessageBytes) problems.push('too long')
    } catch (error) {
      if (!(error instanceof GrpcError)) problems.push(`a reader met ${(error as Error).stack}`)
    }
    reading--
  }
  const calls = [0, 1, 2, 3, 4].map((i) => {
    ended.push(0)
    const onEnd = () => {
      ended[i] = (ended[i] as number) + 1
    }
    return connection.open(HEAD, { hasSoleAnswer: false, onEnd })
  })
  for (const [i, call] of calls.entries()) {
    call.write(i === 3 ? LARGE : MESSAGE)
    if (i !== 2) call.finish()
    if (i !== 4) void read(call)
  }

  return {
    step: (step) => takeStep(step, socket, timing),
    finish: () => socket.destroy(),
    problems() {
      for (const { code, reason } of closed) if (code === ERROR.internal) problems.push(reason)
      if (closed.length !== 1) problems.push(`the connection ended ${closed.length} times`)
      for (const [i, times] of ended.entries()) if (times !== 1) problems.push(`call ${i} ended ${times} times`)
      if (reading !== 0) problems.push(`${reading} readers wait for ever`)
      if (connection.budget.used !== 0) problems.push(`budget.used is ${connection.budget.used} at the end`)
      problems.push(...judgeOutput(Buffer.concat(socket.sent), bytesOf(input), 'client'))
      return problems
    },
  }
}
