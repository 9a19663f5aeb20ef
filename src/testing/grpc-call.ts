import { Metadata } from '../grpc/metadata.ts'
import type { Incoming, Outgoing, ServerCall } from '../grpc/service.ts'
import { GrpcError, STATUS } from '../grpc/status.ts'

/** A call without a connection, for calling a Service's methods directly. */
export interface FakeCall extends ServerCall {
  /** The effect of a client's cancel, a passed deadline or a lost connection. */
  cancel(): void
}

export function fakeCall(): FakeCall {
  const ended = new AbortController()
  return {
    path: '/test.Test/Test',
    metadata: new Metadata([]),
    peer: { address: '127.0.0.1:1', certificateName: undefined },
    deadline: undefined,
    signal: ended.signal,
    get cancelled() {
      return ended.signal.aborted
    },
    room: () => undefined,
    lend: (bytes) => Buffer.allocUnsafe(bytes),
    sendHeaders() {},
    setTrailers() {},
    cancel: () => ended.abort(),
  }
}

export interface FakeOutgoing extends Outgoing {
  readonly messages: Uint8Array[]
  /** From now on the peer accepts nothing more, until `catchUp`. */
  fallBehind(): void
  catchUp(): void
}

/** Records writes. `drained` rejects when the call has ended, as a real one does. */
export function fakeOutgoing(call: ServerCall): FakeOutgoing {
  const messages: Uint8Array[] = []
  let room = Promise.withResolvers<void>()
  let behind = false
  return {
    messages,
    write(message) {
      if (!call.cancelled) messages.push(message instanceof Uint8Array ? message : Buffer.concat(message))
      return !behind
    },
    sent: () => Promise.resolve(),
    drained: () => (behind ? Promise.race([room.promise, cancelled(call.signal)]) : Promise.resolve()),
    fallBehind() {
      behind = true
      room = Promise.withResolvers<void>()
    },
    catchUp() {
      behind = false
      room.resolve()
    },
  }
}

const cancelled = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(new GrpcError(STATUS.cancelled, 'cancelled'))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })

/** These messages, then the end. */
export function fakeIncoming(messages: readonly Uint8Array[]): Incoming {
  const rest = messages.values()
  return {
    next: async () => rest.next().value,
    async *[Symbol.asyncIterator]() {
      yield* rest
    },
  }
}
