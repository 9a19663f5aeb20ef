import { FaultError, invalid } from '../../../base/fault.ts'
import type { BidiMethod, Incoming, Outgoing, ServerCall } from '../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { describeWorker } from '../../../services/workers/describe-worker.ts'
import { HeldAttempts } from '../../../services/workers/held-attempts.ts'
import { leaseMessages } from '../../../services/workers/lease-messages.ts'
import { type DoorSession, standingOrders } from '../../../services/workers/polled-session.ts'
import type { WorkerSessions } from '../../../services/workers/worker-sessions.ts'
import type { WorkerRegistration } from '../../../wire/workers/registration.ts'
import { type StreamServerMessage, serverMessageToProto, workerMessageFromProto } from '../../../wire/workers/stream.ts'

/** Bytes that a worker may leave unread: beyond them it counts as stalled, and its tasks go to other workers. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024

/** One stream is one registration: leases and orders go out as they come, until one of the two sides ends it. */
export const streamLeases = (door: WorkerSessions): BidiMethod => ({
  kind: 'bidi',
  async handle(requests, out, call) {
    const first = await requests.next()
    const word = first && workerMessageFromProto(first)
    if (word?.kind !== 'register') throw invalid('the first message of a stream must register its worker')
    const { registration } = word
    const ended = Promise.withResolvers<string>()
    const session = streamedSession(door, registration, { line: lineTo(out, call), over: ended.resolve })
    if (door.ending.aborted) throw stopping()
    await door.register(describeWorker(registration, 'streams'), session)
    session.open()
    const leave = (): void => ended.resolve('the server is stopping')
    door.ending.addEventListener('abort', leave, { once: true })
    const over = ended.promise.then(async (what) => {
      throw await wordsFor(door, registration.worker, what)
    })
    over.catch(() => {})
    try {
      // Raced once, and not a message at a time: each race would keep its message until the stream is over.
      await Promise.race([hearWorker(door, requests, { worker: registration.worker, session }), over])
    } finally {
      door.ending.removeEventListener('abort', leave)
      if (!door.ending.aborted) door.desk.disconnected(registration.worker, session)
      door.forget(session)
    }
  },
})

interface Spoken {
  readonly worker: string
  readonly session: StreamedSession
}

/** Resolves when the worker half-closes its stream. Messages after the end of the stream are ignored. */
async function hearWorker(door: WorkerSessions, requests: Incoming, { worker, session }: Spoken): Promise<void> {
  for (;;) {
    const message = await requests.next()
    if (message === undefined || session.isEnded) return
    const said = workerMessageFromProto(message)
    if (said?.kind === 'register') throw invalid('a stream registers its worker once')
    if (said === undefined) continue
    if (said.kind === 'input-taken') {
      door.desk.inputTaken({ worker, attemptId: said.attemptId }, said.number)
      continue
    }
    session.attempts.begun(said.attemptId)
    // When it does not count any more, the worker is told to stop it.
    await door.desk.started(worker, said.attemptId)
  }
}

/** Two workers of one name would take it from each other for ever: the one that came first has to give up. */
async function wordsFor({ desk, ending }: WorkerSessions, worker: string, what: string): Promise<Error> {
  if (ending.aborted) return stopping()
  if ((await desk.list()).some((other) => other.worker === worker))
    return new GrpcError(STATUS.aborted, `another worker has registered as ${worker.slice(0, 200)}`)
  return new FaultError({ kind: 'unavailable', what })
}

const stopping = (): FaultError => new FaultError({ kind: 'unavailable', what: 'the server is stopping' })

interface Line {
  send(word: StreamServerMessage): void
}

/** Throws when the stream is closed: the lease is then returned. */
function lineTo(out: Outgoing, call: ServerCall): Line {
  let unread = 0
  return {
    send(word) {
      if (call.cancelled) throw new Error('the stream is gone')
      if (unread > MOST_UNREAD_BYTES) throw new Error('the worker does not read what it is sent')
      const message = serverMessageToProto(word)
      if (out.write(message)) return
      const isFirst = unread === 0
      unread += message.length
      if (!isFirst) return
      out.drained().then(
        () => {
          unread = 0
        },
        () => {}, // the call is over
      )
    },
  }
}

interface StreamedSession extends DoorSession {
  /** Says that it is registered, and what has come up since. */
  open(): void
  /** Another stream has its place. */
  readonly isEnded: boolean
}

interface StreamParts {
  readonly line: Line
  readonly over: (what: string) => void
}

function streamedSession(
  door: WorkerSessions,
  { worker, wantsSpec, running }: WorkerRegistration,
  { line, over }: StreamParts,
): StreamedSession {
  const attempts = new HeldAttempts(running)
  const standing = standingOrders()
  let waiting: StreamServerMessage[] | undefined = []
  let isEnded = false
  const send = (word: StreamServerMessage): void => {
    if (waiting === undefined) line.send(word)
    else waiting.push(word)
  }
  const trySend = (word: StreamServerMessage): void => {
    try {
      send(word)
    } catch {
      // It will hear it with its next heartbeat, or has lost its tasks already.
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
      const words = waiting ?? []
      waiting = undefined
      for (const word of [{ kind: 'registered' } as const, ...words]) trySend(word)
    },
    lease(given) {
      const leases = leaseMessages(given, { desk: door.desk, worker, wantsSpec, now: door.clock.now() })
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
    over(what) {
      isEnded = true
      door.forget(session)
      over(what)
    },
  }
  return session
}
