import type { WebSocket } from 'ws'
import { FaultError } from '../../../base/fault.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import type { WebSocketRoute } from '../../http/server/web-sockets.ts'
import { UnreadableMessage, workerMessage } from './request.ts'
import { closeReason, SocketWorker, type SocketWorkersTools, type WebSocketWorkersOptions } from './session.ts'

const NEVER = new AbortController().signal
const CLOSE = { goingAway: 1001, policy: 1008, bug: 1011 } as const

/** Workers of the WebSocket protocol: the first heartbeat registers, and tasks are pushed to free slots. */
export function websocketWorkers({ patienceMs = 10_000, ...options }: WebSocketWorkersOptions): WebSocketRoute {
  const door: SocketWorkersTools = {
    log: silentLog,
    ending: NEVER,
    canonical: (language) => language,
    unhealthyAfterMs: 30_000,
    ...options,
  }
  const { ending, clock, log } = door
  return {
    path: '/api/v1/workers/connect',
    accept(socket) {
      const sendAway = (): void => socket.close(CLOSE.goingAway, 'the server is stopping')
      if (ending.aborted) return sendAway()
      const worker = new SocketWorker(door, socket)
      const giveUp = clock.after(patienceMs, () => {
        if (!worker.isRegistered) socket.close(CLOSE.policy, 'no heartbeat came')
      })
      ending.addEventListener('abort', sendAway, { once: true })
      socket.on('message', (data) => {
        if (socket.readyState !== socket.OPEN) return // the session was closed: later messages are ignored
        try {
          worker.receive(workerMessage(String(data)))
        } catch (error) {
          refuse(socket, error, log)
        }
      })
      socket.once('close', (code) => {
        giveUp()
        ending.removeEventListener('abort', sendAway)
        worker.closed(code)
      })
    },
  }
}

function refuse(socket: WebSocket, error: unknown, log: Log): void {
  if (error instanceof UnreadableMessage || (error instanceof FaultError && error.fault.kind === 'invalid'))
    return socket.close(CLOSE.policy, closeReason(error.message))
  log.error({ err: error }, 'cannot handle a message of a worker')
  socket.close(CLOSE.bug)
}
