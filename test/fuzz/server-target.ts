import type { ConnectionEnd } from '../../src/grpc/http2/connection-host.ts'
import { DEFAULT_LIMITS } from '../../src/grpc/http2/limits.ts'
import { ERROR } from '../../src/grpc/http2/wire-format.ts'
import type { Observer } from '../../src/grpc/observer.ts'
import { Routes } from '../../src/grpc/server/routes.ts'
import { ServerConnection } from '../../src/grpc/server/server-connection.ts'
import type { ServerCore } from '../../src/grpc/server/server-core.ts'
import { TimerWheel } from '../../src/grpc/timer-wheel.ts'
import { silentObserver } from '../../src/testing/server-core.ts'
import { BareSocket } from './bare-socket.ts'
import { bytesOf, type Input, type Step } from './input.ts'
import { judgeOutput } from './judge-output.ts'
import { JumpingTiming } from './jumping-timing.ts'
import { fuzzService } from './service.ts'
import type { Run } from './target.ts'

const PEER = { address: '127.0.0.1:1', certificateName: undefined }
const LIMITS = { ...DEFAULT_LIMITS, maxConcurrentStreams: 8, maxConnectionBufferedBytes: 1 << 20 }
const ROUTES = new Routes([fuzzService], silentObserver)

/** The server's side of one connection. Inputs share nothing, so that each one can be replayed alone. */
export function serverRun(input: Input): Run {
  const timing = new JumpingTiming()
  const problems: string[] = []
  const ends: ConnectionEnd[] = []
  const observer: Observer = {
    ...silentObserver,
    connectionClosed: (end) => ends.push(end),
    handlerFailed: (path, error) => problems.push(`${path} failed: ${(error as Error).stack}`),
  }
  const budget = { used: 0, most: LIMITS.maxServerBufferedBytes }
  const core: ServerCore = { routes: ROUTES, observer, limits: LIMITS, timing, wheel: new TimerWheel(timing), budget }
  const socket = new BareSocket()
  const connection = new ServerConnection(core, socket.asDuplex(), PEER, () => {})

  return {
    step: (step) => takeStep(step, socket, timing),
    finish: () => socket.destroy(),
    problems() {
      const { http2 } = connection
      for (const { code, reason } of ends) if (code === ERROR.internal) problems.push(reason)
      if (ends.length !== 1) problems.push(`the connection ended ${ends.length} times`)
      const books = {
        streams: http2.streams.size,
        pendingBytes: http2.turns.pendingBytes,
        bufferedBytes: http2.bufferedBytes,
        lingering: http2.lingering,
        'budget.used': budget.used,
        deadlines: core.wheel.size,
      }
      for (const [name, value] of Object.entries(books))
        if (value !== 0) problems.push(`${name} is ${value} at the end`)
      problems.push(...judgeOutput(Buffer.concat(socket.sent), bytesOf(input), 'server'))
      return problems
    },
  }
}

export function takeStep(step: Step, socket: BareSocket, timing: JumpingTiming): void {
  if (step.do === 'bytes') socket.emit('data', step.bytes)
  else if (step.do === 'advance') timing.advance(step.ms)
  else if (step.do === 'stall') socket.stall()
  else if (step.do === 'flow') socket.flow()
}
