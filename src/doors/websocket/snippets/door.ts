import { silentLog } from '../../../base/log.ts'
import type { WebSocketRoute } from '../../http/server/web-sockets.ts'
import { type InteractiveDoorOptions, InteractiveSession, type InteractiveTools } from './session.ts'

/** The first message contains an interactive program with its files. */
const MOST_MESSAGE_BYTES = 8 * 1024 * 1024

/** Runs a program with live input: one WebSocket per program. */
export function interactiveDoor(options: InteractiveDoorOptions): WebSocketRoute {
  const tools: InteractiveTools = {
    log: silentLog,
    startMs: 10_000,
    wallMs: 5 * 60_000,
    stallMs: 30_000,
    graceMs: 2000,
    ...options,
  }
  return {
    path: '/api/v1/tasks/interactive',
    maxMessageBytes: MOST_MESSAGE_BYTES,
    accept: (socket, request) => void new InteractiveSession(socket, tools, tools.scopeOf(request)),
  }
}
