import type { HeartbeatAnswer, HeartbeatMessage } from '../../wire/workers/heartbeat.ts'
import type { InputMessage } from '../../wire/workers/input.ts'
import type { LeaseMessage } from '../../wire/workers/lease.ts'
import type { WorkerRegistration } from '../../wire/workers/registration.ts'
import type { TaskNews } from '../../wire/workers/status.ts'
import type { AttemptStop, OrderKind } from '../../wire/workers/stream.ts'

/** A worker's connection to its server. It reconnects by itself; callers need not know when it is down. */
export interface WorkerLink {
  /** Registers, and again whenever the server has lost us, until it is closed. */
  open(listener: LinkListener): void
  /** Registers anew, with what we have to say of ourselves now. A link that cannot says it when it is opened next. */
  again?(): void
  /** The command runs. Nobody waits for it: that it ended says as much. */
  started(attemptId: string): void
  /** Says it until it is answered. `dropped`: the attempt was not ours any more, or the link was closed. */
  report(attemptId: string, news: TaskNews): Promise<'taken' | 'dropped'>
  /** What was printed, for people who watch; lost when the server is behind. The bytes are read at once. */
  output(attemptId: string, stream: 'stdout' | 'stderr', bytes: Uint8Array): void
  /** Somebody waits for what it prints: it goes at once from now on. A link that cannot does as with all others. */
  prompt?(attemptId: string): void
  /** What was done to it has reached it, up to this number. */
  inputTaken?(attemptId: string, number: number): void
  /** Results of the first stage of the attempt's task, as the server keeps them. */
  stageResults(attemptId: string): StageResults
  /** Undefined when the server could not be reached, or did not know us: then we register again. */
  heartbeat(pulse: Pulse): Promise<HeartbeatAnswer | undefined>
  /** Says goodbye, if there is anybody to hear it. */
  unregister(): Promise<void>
  close(): void
}

export type Pulse = Omit<HeartbeatMessage, 'worker'>

/** What a link tells its worker. */
export interface LinkListener {
  /** What to say of ourselves, with what we run now. */
  registration(): WorkerRegistration
  registered(): void
  leases(leases: readonly LeaseMessage[]): void
  begin(attemptId: string): void
  stop(attemptId: string, why: AttemptStop): void
  order(order: OrderKind): void
  /** Somebody does something to an attempt. */
  input(input: InputMessage): void
  /** It is tried again. */
  lost(error: unknown): void
  /** The server will not have us, and asking again does not help. */
  refused(error: Error): void
}

/** Results of the first stage of one attempt's task, kept by the server. The conditions are those of this worker. */
export interface StageResults {
  get(conditions: string): Promise<Uint8Array | undefined>
  put(conditions: string, result: Uint8Array): Promise<void>
}
