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
} from '../../wire/workers/stream.ts'
import { backoff } from './backoff.ts'
import type { LinkListener } from './worker-link.ts'

export interface LeaseStreamOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly random: () => number
  /** Ends it for good. */
  readonly signal: AbortSignal
}

/** The stream that leases come by. It is a registration: when it breaks, another is made with what we run then. */
export interface LeaseStream {
  open(listener: LinkListener): void
  /** Dropped when there is no stream: registering anew says it all. */
  say(word: StreamWorkerMessage): void
  /** The server does not know us any more. */
  renew(): void
  /** We have something else to say of ourselves. */
  again(): void
  /** We are about to say goodbye: that the stream ends then is no loss. */
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
      const word = serverMessageFromProto(message)
      if (word.kind === 'registered') tries.reset()
      tell(listener, word)
      if (word.kind === 'order' && word.order === 'register') return
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
    say: (word) => void call?.write(workerMessageToProto(word)),
    renew: () => call?.cancel('the server does not know us'),
    again() {
      if (call === undefined) return // it is about to be said
      isAgain = true
      call.cancel('we have more to say of ourselves')
    },
    leave() {
      isLeaving = true
    },
  }
}

function tell(listener: LinkListener, word: StreamServerMessage): void {
  switch (word.kind) {
    case 'registered':
      return listener.registered()
    case 'leases':
      return listener.leases(word.leases)
    case 'begin':
      return listener.begin(word.attemptId)
    case 'stop':
      return listener.stop(word.attemptId, word.why)
    case 'order':
      return listener.order(word.order)
    case 'input':
      return listener.input(word.input)
    case 'unknown':
  }
}

/** What does not pass by itself, in words for who started the worker. */
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
