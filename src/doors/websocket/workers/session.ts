import type { WebSocket } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import type { Log } from '../../../base/log.ts'
import type { LocalWorkerService } from '../../../engine/workers/worker-service.ts'
import type { AttemptReport, TaskLease, WorkerOrder, WorkerSession } from '../../../engine/workers/worker-session.ts'
import { refuseLease } from '../../../services/workers/leases.ts'
import { attemptReport } from './attempt-report.ts'
import { GivenTasks } from './given-tasks.ts'
import type {
  MistypedField,
  OutputMessage,
  ReadMessage,
  ResultMessage,
  SocketHeartbeat,
  WorkerMessage,
} from './request.ts'
import { executeMessage, type GivenTask } from './response.ts'
import {
  type CanonicalName,
  describeSocketWorker,
  foreignUse,
  pulseOf,
  sameOffer,
  type WorkerOffer,
  workerOfferOf,
} from './worker-offer.ts'

export interface WebSocketWorkersOptions {
  readonly service: LocalWorkerService
  readonly clock: Clock
  readonly log?: Log
  /** Aborted when the server is about to stop: its workers are disconnected, but do not count as lost. */
  readonly ending?: AbortSignal
  /** Maps the name that a worker uses for a language to the name here; unchanged unless given. */
  readonly canonical?: CanonicalName
  /** A worker without a heartbeat for this long gets no more tasks; the protocol's default is 30 s. */
  readonly unhealthyAfterMs?: number
  /** The time limit for the first heartbeat. */
  readonly patienceMs?: number
}

export type SocketWorkersTools = Required<Omit<WebSocketWorkersOptions, 'patienceMs'>>

/** Message types beyond the protocol: sent only to a worker that declares them. */
const EXTENSIONS = ['accepted', 'cancel', 'drain', 'ack'] as const
type Extension = (typeof EXTENSIONS)[number]

/** Minimum interval between two registrations of a worker whose offer changes. */
const SHORTEST_REGISTRATION_MS = 1000

/** Invalid messages in a row after which the worker is disconnected. */
const MOST_MISTAKES = 20
/** How long the server waits for a readable result after an unreadable one. */
const CORRECTION_MS = 10_000

const CLOSE = { policy: 1008, tryAgain: 1013 } as const
/** Close codes of a peer that disconnects on purpose: normal, going away, or none. */
const FAREWELLS = new Set([1000, 1001, 1005])

interface Registered {
  readonly worker: string
  readonly offer: WorkerOffer
  readonly session: WorkerSession
  /** On the monotonic clock. */
  readonly at: number
}

interface TaskLabel {
  readonly taskId: string
  readonly attempt?: number | null | undefined
}

/** A worker at the other end of a WebSocket, from its first heartbeat until the socket is closed. */
export class SocketWorker {
  readonly #door: SocketWorkersTools
  readonly #socket: WebSocket
  readonly #given = new GivenTasks()
  #registered: Registered | undefined
  #extensions: ReadonlySet<Extension> = new Set()
  #silence: (() => void) | undefined
  #mistakes = 0
  #foreign = 0

  constructor(door: SocketWorkersTools, socket: WebSocket) {
    this.#door = door
    this.#socket = socket
  }

  receive({ message, mistyped }: ReadMessage): void {
    if (mistyped !== undefined) this.#answerMistyped(mistyped)
    if (message !== undefined) this.#receiveMessage(message)
    if (mistyped === undefined || message !== undefined) this.#mistakes = 0
    else if (++this.#mistakes >= MOST_MISTAKES) this.#end(CLOSE.policy, mistyped.message)
  }

  #receiveMessage(message: WorkerMessage): void {
    if (message.type === 'heartbeat') return this.#heartbeat(message)
    if (this.#registered === undefined) return this.#end(CLOSE.policy, 'the first message must be a heartbeat')
    const { worker } = this.#registered
    if (message.type === 'result') return this.#result(message, worker)
    const given = this.#given.get(message.taskId, message)
    if (given === undefined) this.#cancel(message, 'superseded')
    else if (message.type === 'output') this.#output(message, { worker, attemptId: given.attemptId })
    else if (!this.#door.service.started(worker, given.attemptId)) this.#lose(given)
  }

  /**
   * A result that cannot be read may be followed by a corrected one. If none comes, the task must not wait for its time
   * limit: the attempt ends as a fault of the worker, and the grid tries another worker.
   */
  #answerMistyped({ refused, taskId, field, message }: MistypedField): void {
    this.#send({ type: 'error', refused, taskId, field, message })
    const given = refused === 'result' && taskId !== undefined ? this.#given.get(taskId) : undefined
    const worker = this.#registered?.worker
    if (given === undefined || worker === undefined || given.giveUpCorrection !== undefined) return
    given.giveUpCorrection = this.#door.clock.after(CORRECTION_MS, () => {
      this.#given.lose(given.taskId)
      const what = `its worker sent a result that cannot be read: ${message}`
      this.#report({ worker, given }, { outcome: { kind: 'fault', what } })
    })
  }

  get isRegistered(): boolean {
    return this.#registered !== undefined
  }

  closed(code: number): void {
    this.#silence?.()
    for (const taskId of this.#given.taskIds) this.#given.get(taskId)?.giveUpCorrection?.()
    const { service, ending } = this.#door
    if (this.#registered === undefined || ending.aborted) return // a worker that was disconnected by the server reconnects
    const { worker, session } = this.#registered
    if (FAREWELLS.has(code)) service.unregister(worker)
    else service.disconnected(worker, session)
  }

  #heartbeat(message: SocketHeartbeat): void {
    const { service, clock } = this.#door
    const { clientId } = message
    if (this.#registered !== undefined && this.#registered.worker !== clientId)
      return this.#end(CLOSE.policy, 'a connection is for one worker, but this message has another name')
    if (message.extensions) this.#extensions = new Set(EXTENSIONS.filter((one) => message.extensions?.includes(one)))
    const holds = message.running && this.#attemptsIn(message.running, clientId)
    const register = (): boolean => this.#register(message, holds ?? this.#given.attemptIds)
    if (this.#mustRegister(message) && !register()) return
    // A worker without tasks of this server may still run a task that it has lost.
    const known = { given: this.#given.size, holds: holds ?? undefined, foreign: this.#foreign }
    this.#foreign = foreignUse(message, known)
    if (!service.heartbeat(clientId, pulseOf(message, known)) && !register()) return
    this.#silence?.()
    this.#silence = clock.after(this.#door.unhealthyAfterMs, () => this.#fellSilent())
    if (this.#extensions.has('ack'))
      this.#send({ type: 'heartbeat_ack', clientId, timestamp: new Date(clock.now()).toISOString() })
  }

  #mustRegister(message: SocketHeartbeat): boolean {
    const { offer, at } = this.#registered ?? {}
    if (offer === undefined || at === undefined) return true
    const isSame = sameOffer(offer, workerOfferOf(message, this.#door.canonical, offer))
    return !isSame && this.#door.clock.monotonic() - at >= SHORTEST_REGISTRATION_MS
  }

  /**
   * Converts the tasks that the worker reports as running to attempts: those sent over this socket, and those that the
   * engine still assigns to it.
   */
  #attemptsIn(running: readonly string[], worker: string): string[] {
    const { service, clock } = this.#door
    return running.flatMap((taskId) => {
      const given = this.#given.get(taskId)
      if (given !== undefined) return [given.attemptId]
      const held = service.attemptOf(worker, taskId)
      if (held !== undefined) {
        this.#given.give({ taskId, ...held, limits: {}, sentAt: clock.monotonic(), isCancelled: false })
        return [held.attemptId]
      }
      this.#cancel({ taskId }, 'superseded')
      return []
    })
  }

  #register(message: SocketHeartbeat, running: readonly string[]): boolean {
    const { service, canonical, clock } = this.#door
    const offer = workerOfferOf(message, canonical, this.#registered?.offer)
    const { clientId: worker } = message
    const session = this.#session(worker)
    this.#registered = { worker, offer, session, at: clock.monotonic() }
    try {
      service.register(describeSocketWorker(worker, offer, running), session)
      return true
    } catch (error) {
      this.#registered = undefined
      if (!(error instanceof FaultError)) throw error
      this.#end(error.fault.kind === 'invalid' ? CLOSE.policy : CLOSE.tryAgain, error.message)
      return false
    }
  }

  #session(worker: string): WorkerSession {
    const session: WorkerSession = {
      lease: (leases) => this.#execute(worker, leases),
      begin() {},
      stop: (attemptId, why) => {
        const given = this.#given.withAttempt(attemptId)
        if (given === undefined) return
        if (why === 'cancelled') given.isCancelled = true
        else this.#given.lose(given.taskId)
        this.#cancel(given, why)
      },
      order: (order) => this.#order(order),
      close: () => {
        if (this.#registered?.session === session) this.#over(worker)
      },
    }
    return session
  }

  #execute(worker: string, leases: readonly TaskLease[]): void {
    if (this.#socket.readyState !== this.#socket.OPEN) throw new Error('the socket is closed')
    const { service, clock } = this.#door
    for (const lease of leases) {
      try {
        const { message, limits } = executeMessage(lease)
        const alias = this.#registered?.offer.languages.get(message.language) ?? message.language
        const { attemptId, attempt } = lease
        const { taskId } = message
        this.#given.give({ taskId, attemptId, attempt, limits, sentAt: clock.monotonic(), isCancelled: false })
        this.#send({ ...message, language: alias })
        // A worker that does not report starts counts as started at once. Deferred, because the engine has not finished
        // the assignment yet.
        if (!this.#extensions.has('accepted')) setImmediate(() => service.started(worker, lease.attemptId))
      } catch (error) {
        refuseLease(lease, { service, worker }, error)
      }
    }
  }

  #result(message: ResultMessage, worker: string): void {
    const { taskId } = message
    const given = this.#given.get(taskId, message)
    if (given !== undefined) {
      this.#given.done(taskId)
      return this.#report(
        { worker, given },
        attemptReport(message, { given, worker, now: this.#door.clock.monotonic() }),
      )
    }
    const former = this.#given.takeFormer(taskId, message)
    if (former === undefined) return this.#ack(message, 'superseded')
    this.#report({ worker, given: former }, { outcome: { kind: 'stopped' } })
  }

  #report({ worker, given }: { worker: string; given: GivenTask }, report: AttemptReport): void {
    const { service, log } = this.#door
    const { attemptId } = given
    service.finished({ worker, attemptId }, report).then(
      (taken) => this.#ack(given, taken),
      (error: unknown) => log.error({ worker, attempt: attemptId, err: error }, 'cannot record the result of a worker'),
    )
  }

  #output({ stream, data, offset }: OutputMessage, from: { worker: string; attemptId: string }): void {
    this.#door.service.output({ ...from, stream, bytes: Buffer.from(data), at: offset ?? undefined })
  }

  #order(order: WorkerOrder): void {
    if (order === 'register') this.#registered = undefined
    else if (this.#extensions.has('drain')) this.#send({ type: order })
    else if (order === 'shutdown') this.#end(1000, 'no more tasks for this worker')
  }

  /** Its tasks were assigned to other workers. Whether it may reconnect depends on the worker that now has its name. */
  #over(worker: string): void {
    this.#registered = undefined
    this.#silence?.()
    for (const taskId of this.#given.taskIds) this.#lose({ taskId })
    if (this.#door.service.list().some((other) => other.worker === worker))
      this.#end(CLOSE.policy, 'another worker has registered under this name')
  }

  #fellSilent(): void {
    if (this.#registered === undefined) return
    const { worker, session } = this.#registered
    this.#door.service.disconnected(worker, session)
  }

  #lose(task: TaskLabel): void {
    this.#given.lose(task.taskId)
    this.#cancel(task, 'superseded')
  }

  #cancel({ taskId, attempt }: TaskLabel, reason: string): void {
    if (this.#extensions.has('cancel')) this.#send({ type: 'cancel', taskId, attempt, reason })
  }

  #ack({ taskId, attempt }: TaskLabel, taken: 'applied' | 'superseded'): void {
    if (this.#extensions.has('ack')) this.#send({ type: 'result_ack', taskId, attempt, taken })
  }

  #send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #end(code: number, why: string): void {
    this.#socket.close(code, closeReason(why))
  }
}

const MOST_REASON_BYTES = 123

/** A close reason has at most 123 bytes (RFC 6455, 5.5), and must be whole UTF-8. */
export function closeReason(why: string): string {
  const bytes = Buffer.from(why)
  return bytes.length <= MOST_REASON_BYTES
    ? why
    : `${bytes
        .subarray(0, 116)
        .toString()
        .replace(/\ufffd+$/, '')}...`
}
