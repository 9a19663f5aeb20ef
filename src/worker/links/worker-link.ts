import type { HeartbeatAnswer, HeartbeatMessage } from '../../wire/workers/heartbeat.ts'
import type { InputMessage } from '../../wire/workers/input.ts'
import type { AttemptStop, LeaseMessage, OrderKind } from '../../wire/workers/lease-stream.ts'
import type { WorkerRegistration } from '../../wire/workers/registration.ts'
import type { AttemptState } from '../../wire/workers/report.ts'

/** A worker's connection to its server. It reconnects by itself; its state is not visible to callers. */
export interface WorkerLink {
  /** Registers, and again whenever the server has lost this worker, until the link is closed. */
  open(listener: LinkListener): void
  /** Registers again with the current registration. A link without this does so when it reconnects. */
  again?(): void
  /** The command runs. Not retried, because the report of its end implies it. */
  started(attemptId: string): void
  /** Retries until the server answers. `dropped`: the lease was lost, or the link was closed. */
  report(attemptId: string, news: AttemptState): Promise<'taken' | 'dropped'>
  /**
   * Sends output to clients that follow it, and drops it when the server is slow. Copies the bytes before it returns.
   */
  output(attemptId: string, stream: 'stdout' | 'stderr', bytes: Uint8Array): void
  /** A client follows the attempt interactively: output is sent without delay. A link without this delays it. */
  prompt?(attemptId: string): void
  /** The program has received all input events up to this number. */
  inputTaken?(attemptId: string, number: number): void
  /** Results of the first stage of the attempt's task, stored by the server. */
  stageResults(attemptId: string): StageResults
  /** Returns undefined when the server could not be reached or has lost this worker; the link then registers again. */
  heartbeat(pulse: Pulse): Promise<HeartbeatAnswer | undefined>
  /** Deregisters, if the server can be reached. */
  unregister(): Promise<void>
  close(): void
}

export type Pulse = Omit<HeartbeatMessage, 'worker'>

/** The calls of a link to its worker. */
export interface LinkListener {
  /** The current registration, with the attempts that run now. */
  registration(): WorkerRegistration
  registered(): void
  leases(leases: readonly LeaseMessage[]): void
  begin(attemptId: string): void
  stop(attemptId: string, why: AttemptStop): void
  order(order: OrderKind): void
  /** A client has sent input to an attempt. */
  input(input: InputMessage): void
  /** The connection was lost; the link reconnects. */
  lost(error: unknown): void
  /** The server refuses this worker permanently. */
  refused(error: Error): void
}

/** Results of the first stage of one attempt's task, stored by the server. The conditions are those of this worker. */
export interface StageResults {
  get(conditions: string): Promise<Uint8Array | undefined>
  put(conditions: string, result: Uint8Array): Promise<void>
}
