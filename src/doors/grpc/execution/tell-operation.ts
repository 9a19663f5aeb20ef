import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { Outgoing, ServerCall } from '../../../grpc/service.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { operationNews } from '../../../services/execution/operation-news.ts'
import { actionSpecFromProto } from '../../../wire/tasks/action-spec.ts'
import { type Listening, operationMessage } from './operation-message.ts'

export interface Listener {
  readonly out: Outgoing
  readonly call: ServerCall
}

/** Tells a client how its operation stands, then each change, until it is over or the client has left. */
export async function tellOperation(first: OperationStatus, listener: Listener, tools: ExecutionTools): Promise<void> {
  const { out, call } = listener
  if (first.end !== undefined) {
    out.write(await operationMessage(first, tools, call))
    return
  }
  // Watched before anything is told: a client that is slow to read still waits for it.
  using news = operationNews(first.operation, tools, call.signal)
  const asker: Listening = { spec: actionSpecFromProto(first.spec), room: (bytes) => call.room(bytes) }
  let said: Uint8Array = await operationMessage(first, tools, asker)
  await send(said, out)
  for (;;) {
    const status = await news.next(tools.limits.keepAliveMs)
    const message = status === undefined ? said : await operationMessage(status, tools, asker)
    // Much that the engine tells makes no difference to a client. But a stream that is silent may be cut on its way.
    if (status === undefined || Buffer.compare(message, said) !== 0) await send(message, out)
    if (status?.end !== undefined) return
    said = message
  }
}

async function send(message: Uint8Array, out: Outgoing): Promise<void> {
  if (!out.write(message)) await out.drained()
}
