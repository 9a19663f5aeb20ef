import type { Clock } from '../../../base/clock.ts'
import { type Log, silentLog } from '../../../base/log.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import type { WebSocketRequest, WebSocketRoute } from '../../http/server/web-sockets.ts'
import { InteractiveSession } from './session.ts'

export interface InteractiveDoorOptions {
  readonly desk: Pick<SnippetService, 'submit' | 'watch' | 'listenOutput' | 'cancel'>
  readonly input: Engine['input']
  readonly clock: Clock
  readonly log?: Log
  /** Whose tasks the caller may make. */
  readonly instanceOf?: (request: WebSocketRequest) => InstanceName
  /** The known name that a mistyped one most likely stood for. */
  /** For the first message. */
  readonly startMs?: number
  /** What a program may take from start to end, when its caller does not say. */
  readonly wallMs?: number
  /** For how long a client may leave what was sent to it unread. */
  readonly stallMs?: number
  /** For how long a program goes on when nobody types to it any more. */
  readonly graceMs?: number
}

export type InteractiveTools = Required<InteractiveDoorOptions>

/** A program that is typed to travels in the first message, with its files. */
const MOST_MESSAGE_BYTES = 8 * 1024 * 1024

/** Runs a program for one who types to it: a WebSocket for each. */
export function interactiveDoor(options: InteractiveDoorOptions): WebSocketRoute {
  const tools: InteractiveTools = {
    log: silentLog,
    instanceOf: () => '',
    startMs: 10_000,
    wallMs: 5 * 60_000,
    stallMs: 30_000,
    graceMs: 2000,
    ...options,
  }
  return {
    path: '/api/v1/tasks/interactive',
    maxMessageBytes: MOST_MESSAGE_BYTES,
    accept: (socket, request) => void new InteractiveSession(socket, tools, tools.instanceOf(request)),
  }
}
