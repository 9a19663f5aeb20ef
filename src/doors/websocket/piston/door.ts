import { silentLog } from '../../../base/log.ts'
import { PISTON_PREFIXES } from '../../http/piston/door.ts'
import type { PistonLimits } from '../../http/piston/request.ts'
import type { WebSocketRoute } from '../../http/server/web-sockets.ts'
import { ConnectSession, type ConnectTools, type PistonConnectOptions } from './session.ts'

/** The limits of an interactive program: people type slowly, so it has more time than a batch program. */
const LIMITS: PistonLimits = { runMs: 5 * 60_000, mostMs: 5 * 60_000 }
const MOST_MESSAGE_BYTES = 8 * 1024 * 1024

/** Piston's `connect`: a program with live input. */
export function pistonConnect(options: PistonConnectOptions): WebSocketRoute[] {
  const tools: ConnectTools = {
    log: silentLog,
    limits: LIMITS,
    initMs: 1000,
    stallMs: 30_000,
    ...options,
  }
  return PISTON_PREFIXES.map((prefix) => ({
    path: `${prefix}/connect`,
    maxMessageBytes: MOST_MESSAGE_BYTES,
    accept: (socket, request) => void new ConnectSession(socket, tools, tools.scopeOf(request)),
  }))
}
