import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { GrpcError, STATUS, type StatusCode } from '../../grpc/status.ts'
import {
  type StreamServerMessage,
  type StreamWorkerMessage,
  serverMessageFromProto,
  workerMessageToProto,
} from '../../wire/workers/lease-stream.ts'
import { backoff } from './backoff.ts'
import type { LinkListener } from './worker-link.ts'

export interface LeaseStreamOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly random: () => number
  /** Closes the stream permanently. */
  readonly signal: AbortSignal
}

/**
 * The stream that delivers leases. Opening it registers the worker, again after every break, with the attempts it runs.
 */
export interface LeaseStream {
  open(listener: LinkListener): void
  /** Discards the message when there is no stream: the next registration contains the same state. */
  send(message: StreamWorkerMessage): void
  /** Registers again, because the server has lost this worker. */
  renew(): void
  /** Registers again, because the registration has changed. */
  again(): void
  /** The worker is about to deregister. After that the end of the stream is not an error. */
  leave(): void
}

const PATH = '/windlass.worker.v1.WorkerLink/StreamLeases'

export function leaseStream({ channel, clock, random, signal }: LeaseStreamOptions): LeaseStream {
  let call: ClientCall | undefined
  let isLeaving = false
  let isAgain = false
  const tries = backoff(clock, random)

  const once = async (listener: LinkListener): Promise<void> => {
    isAgain = false
    call = channel.open(PATH, { signal })
    call.write(workerMessageToProto({ kind: 'register', registration: listener.registration() }))
    for await (const message of call) {
      const received = serverMessageFromProto(message)
      if (received.kind === 'registered') tries.reset()
      notify(listener, received)
      if (received.kind === 'order' && received.order === 'register') return
    }
  }

  const keep = async (listener: LinkListener): Promise<void> => {
    while (!signal.aborted && !isLeaving) {
      try {
        await once(listener)
      } catch (error) {
        if (signal.aborted || isLeaving) return
        if (isAgain) continue
        const refusal = refusalOf(error)
        if (refusal !== undefined) return listener.refused(refusal)
        listener.lost(error)
      } finally {
        call?.cancel()
        call = undefined
      }
      await tries.pause(signal)
    }
  }

  return {
    open: (listener) => void keep(listener),
    send: (message) => void call?.write(workerMessageToProto(message)),
    renew: () => call?.cancel('the server has forgotten this worker'),
    again() {
      if (call === undefined) return // the next stream registers anyway
      isAgain = true
      call.cancel('the registration has changed')
    },
    leave() {
      isLeaving = true
    },
  }
}

function notify(listener: LinkListener, message: StreamServerMessage): void {
  switch (message.kind) {
    case 'registered':
      return listener.registered()
    case 'leases':
      return listener.leases(message.leases)
    case 'begin':
      return listener.begin(message.attemptId)
    case 'stop':
      return listener.stop(message.attemptId, message.why)
    case 'order':
      return listener.order(message.order)
    case 'input':
      return listener.input(message.input)
    case 'unknown':
  }
}

/** Errors that no retry can fix, explained for the operator of the worker. */
const FINAL: Partial<Record<StatusCode, string>> = {
  [STATUS.invalidArgument]: 'the server does not take our registration',
  [STATUS.outOfRange]: 'the server does not take our registration',
  [STATUS.unimplemented]: 'the server offers no work: it is another program, or an older one',
  [STATUS.unauthenticated]: 'the server does not know who we are',
  [STATUS.permissionDenied]: 'the server does not let us work for it',
  [STATUS.aborted]: 'this worker gave way: give each its own name',
}

function refusalOf(error: unknown): Error | undefined {
  if (!(error instanceof GrpcError)) return error instanceof FaultError ? undefined : (error as Error)
  const what = FINAL[error.code]
  if (what === undefined) return undefined
  return new FaultError({ kind: 'denied', what: `${what} (${error.message})` }, error)
}
