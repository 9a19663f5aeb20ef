import { FaultError, invalid } from '../../../base/fault.ts'
import type { BidiMethod, Incoming, Outgoing, ServerCall } from '../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { describeWorker } from '../../../services/workers/describe-worker.ts'
import { HeldAttempts, leaseMessages } from '../../../services/workers/leases.ts'
import { type DoorSession, standingOrders } from '../../../services/workers/polled-session.ts'
import type { WorkerSessions } from '../../../services/workers/worker-sessions.ts'
import {
  type StreamServerMessage,
  serverMessageToProto,
  workerMessageFromProto,
} from '../../../wire/workers/lease-stream.ts'
import type { WorkerRegistration } from '../../../wire/workers/registration.ts'

/**
 * The maximum number of unread bytes of a worker. Beyond it the worker counts as stalled, and its tasks are assigned to
 * other workers.
 */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024

/** One stream is one registration: the server sends leases and orders until one of the two sides closes the stream. */
export const streamLeases = (door: WorkerSessions): BidiMethod => ({
  kind: 'bidi',
  async handle(requests, out, call) {
    const first = await requests.next()
    const message = first && workerMessageFromProto(first)
    if (message?.kind !== 'register') throw invalid('the first message of a stream must register its worker')
    const { registration } = message
    const ended = Promise.withResolvers<string>()
    const session = streamedSession(door, registration, { writer: messageWriter(out, call), close: ended.resolve })
    if (door.ending.aborted) throw stopping()
    await door.register(describeWorker(registration, 'streams'), session)
    session.open()
    const stop = (): void => ended.resolve('the server is stopping')
    door.ending.addEventListener('abort', stop, { once: true })
    const closed = ended.promise.then(async (what) => {
      throw await closeReason(door, registration.worker, what)
    })
    closed.catch(() => {})
    try {
      // One race for all messages: a race per message would keep each message in memory until the stream ends.
      await Promise.race([receiveMessages(door, requests, { worker: registration.worker, session }), closed])
    } finally {
      door.ending.removeEventListener('abort', stop)
      if (!door.ending.aborted) door.service.disconnected(registration.worker, session)
      door.forget(session)
    }
  },
})

interface StreamOwner {
  readonly worker: string
  readonly session: StreamedSession
}

/** Resolves when the worker half-closes its stream. Messages after the end of the stream are ignored. */
async function receiveMessages(
  door: WorkerSessions,
  requests: Incoming,
  { worker, session }: StreamOwner,
): Promise<void> {
  for (;;) {
    const bytes = await requests.next()
    if (bytes === undefined || session.isEnded) return
    const message = workerMessageFromProto(bytes)
    if (message?.kind === 'register') throw invalid('a stream registers its worker once')
    if (message === undefined) continue
    if (message.kind === 'input-taken') {
      door.service.inputTaken({ worker, attemptId: message.attemptId }, message.number)
      continue
    }
    session.attempts.begun(message.attemptId)
    // If the attempt was superseded, the engine sends the worker a stop message.
    await door.service.started(worker, message.attemptId)
  }
}

/** Two workers with one name would replace each other forever: ABORTED makes the first one exit. */
async function closeReason({ service, ending }: WorkerSessions, worker: string, what: string): Promise<Error> {
  if (ending.aborted) return stopping()
  if ((await service.list()).some((other) => other.worker === worker))
    return new GrpcError(STATUS.aborted, `another worker has registered as ${worker.slice(0, 200)}`)
  return new FaultError({ kind: 'unavailable', what })
}

const stopping = (): FaultError => new FaultError({ kind: 'unavailable', what: 'the server is stopping' })

interface MessageWriter {
  send(message: StreamServerMessage): void
}

/** `send` throws when the stream is closed: the engine then returns the lease to the queue. */
function messageWriter(out: Outgoing, call: ServerCall): MessageWriter {
  let unread = 0
  return {
    send(message) {
      if (call.cancelled) throw new Error('the stream is closed')
      if (unread > MOST_UNREAD_BYTES) throw new Error('the worker does not read its stream')
      const bytes = serverMessageToProto(message)
      if (out.write(bytes)) return
      const isFirst = unread === 0
      unread += bytes.length
      if (!isFirst) return
      out.drained().then(
        () => {
          unread = 0
        },
        () => {}, // the call has ended
      )
    },
  }
}

interface StreamedSession extends DoorSession {
  /** Sends that the worker is registered, then the messages that were queued until then. */
  open(): void
  /** Another stream has registered the same worker. */
  readonly isEnded: boolean
}

interface StreamParts {
  readonly writer: MessageWriter
  readonly close: (what: string) => void
}

function streamedSession(
  door: WorkerSessions,
  { worker, wantsSpec, running }: WorkerRegistration,
  { writer, close }: StreamParts,
): StreamedSession {
  const attempts = new HeldAttempts(running)
  const standing = standingOrders()
  let waiting: StreamServerMessage[] | undefined = []
  let isEnded = false
  const send = (message: StreamServerMessage): void => {
    if (waiting === undefined) writer.send(message)
    else waiting.push(message)
  }
  const trySend = (message: StreamServerMessage): void => {
    try {
      send(message)
    } catch {
      // The response to the next heartbeat repeats it, or the worker has lost its tasks already.
    }
  }
  const session: StreamedSession = {
    wantsSpec,
    attempts,
    get isOver() {
      return isEnded || standing.mustRegister
    },
    get isEnded() {
      return isEnded
    },
    answer: () => ({ ...standing.answer(), cancel: attempts.toCancel }),
    open() {
      const messages = waiting ?? []
      waiting = undefined
      for (const message of [{ kind: 'registered' } as const, ...messages]) trySend(message)
    },
    lease(given) {
      const leases = leaseMessages(given, { service: door.service, worker, wantsSpec, now: door.clock.now() })
      if (leases.length > 0) send({ kind: 'leases', leases })
      for (const { attemptId, expiresAt } of leases) attempts.given(attemptId, expiresAt)
    },
    begin: (attemptId) => trySend({ kind: 'begin', attemptId }),
    input: (attemptId, input) => trySend({ kind: 'input', input: { attemptId, ...input } }),
    stop(attemptId, why) {
      attempts.cancel(attemptId, why)
      trySend({ kind: 'stop', attemptId, why })
    },
    order(order) {
      standing.take(order)
      trySend({ kind: 'order', order })
    },
    close(what) {
      isEnded = true
      door.forget(session)
      close(what)
    },
  }
  return session
}
