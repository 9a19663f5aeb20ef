import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { PISTON_PREFIXES } from '../../http/piston/door.ts'
import type { PistonLimits } from '../../http/piston/request.ts'
import type { WebSocketRequest, WebSocketRoute } from '../../http/server/web-sockets.ts'
import { ConnectSession } from './session.ts'

export interface PistonConnectOptions {
  readonly desk: Pick<
    SnippetService,
    'languages' | 'isAwaited' | 'settled' | 'submit' | 'watch' | 'listenOutput' | 'cancel'
  >
  readonly input: Engine['input']
  readonly clock: Clock
  readonly log?: Log
  /** Whose tasks the caller may make. */
  readonly instanceOf?: (request: WebSocketRequest) => InstanceName
  readonly limits?: PistonLimits
  /** For the first message. */
  readonly initMs?: number
  /** For how long a client may leave what was sent to it unread. */
  readonly stallMs?: number
}

export type ConnectTools = Required<PistonConnectOptions>

/** People type slowly: a program that waits for them has longer than one that is only run. */
const LIMITS: PistonLimits = { runMs: 5 * 60_000, mostMs: 5 * 60_000 }
const MOST_MESSAGE_BYTES = 8 * 1024 * 1024

/** Piston's `connect`: a program that is typed to while it runs. */
export function pistonConnect(options: PistonConnectOptions): WebSocketRoute[] {
  const tools: ConnectTools = {
    log: silentLog,
    instanceOf: () => '',
    limits: LIMITS,
    initMs: 1000,
    stallMs: 30_000,
    ...options,
  }
  return PISTON_PREFIXES.map((prefix) => ({
    path: `${prefix}/connect`,
    maxMessageBytes: MOST_MESSAGE_BYTES,
    accept: (socket, request) => void new ConnectSession(socket, tools, tools.instanceOf(request)),
  }))
}
