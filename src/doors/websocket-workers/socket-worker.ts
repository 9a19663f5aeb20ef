import type { WebSocket } from 'ws'
import { FaultError } from '../../base/fault.ts'
import type { TaskLease, WorkerOrder, WorkerSession } from '../../engine/worker-session.ts'
import { refuseLease } from '../workers/lease-words.ts'
import { attemptReport } from './attempt-report.ts'
import { executeMessage } from './execute-message.ts'
import { GivenTasks } from './given-tasks.ts'
import type { WorkersOverWebSocket } from './websocket-workers.ts'
import type { HeartbeatMessage, OutputMessage, ResultMessage, WorkerMessage } from './worker-message.ts'
import { describeSocketWorker, offerOf, pulseOf, sameOffer, type WorkerOffer } from './worker-offer.ts'

/** Words that a worker understands only if it says so: one that was written from the protocol alone hears nothing else. */
const EXTENSIONS = ['accepted', 'cancel', 'drain', 'ack'] as const
type Extension = (typeof EXTENSIONS)[number]

/** Not one registration for every heartbeat, whatever a worker changes its mind about. */
const SHORTEST_REGISTRATION_MS = 1000

const CLOSE = { policy: 1008, tryAgain: 1013 } as const
/** What a closing peer says who means to go: normally, going away, or nothing at all. */
const FAREWELLS = new Set([1000, 1001, 1005])

interface Registered {
  readonly worker: string
  readonly offer: WorkerOffer
  readonly session: WorkerSession
  /** On the monotonic clock. */
  readonly at: number
}

/** A worker at the other end of a WebSocket, from its first heartbeat until the socket is closed. */
export class SocketWorker {
  readonly #door: WorkersOverWebSocket
  readonly #socket: WebSocket
  readonly #given = new GivenTasks()
  #registered: Registered | undefined
  #extensions: ReadonlySet<Extension> = new Set()
  #silence: (() => void) | undefined

  constructor(door: WorkersOverWebSocket, socket: WebSocket) {
    this.#door = door
    this.#socket = socket
  }

  hear(message: WorkerMessage): void {
    if (message.type === 'heartbeat') this.#heartbeat(message)
    else if (this.#registered === undefined) this.#end(CLOSE.policy, 'the first message must be a heartbeat')
    else if (message.type === 'result') this.#result(message, this.#registered.worker)
    else if (this.#given.get(message.taskId) === undefined) this.#cancel(message.taskId, 'superseded')
    else if (message.type === 'output') this.#output(message, this.#registered.worker)
    else if (!this.#door.desk.started(this.#registered.worker, message.taskId)) this.#lose(message.taskId)
  }

  get isRegistered(): boolean {
    return this.#registered !== undefined
  }

  closed(code: number): void {
    this.#silence?.()
    const { desk, ending } = this.#door
    if (this.#registered === undefined || ending.aborted) return // who was sent away will come back
    const { worker, session } = this.#registered
    if (FAREWELLS.has(code)) desk.unregister(worker)
    else desk.disconnected(worker, session)
  }

  #heartbeat(message: HeartbeatMessage): void {
    const { desk, clock } = this.#door
    const { clientId } = message
    if (this.#registered !== undefined && this.#registered.worker !== clientId)
      return this.#end(CLOSE.policy, 'a socket is for one worker, and this one came with another name')
    if (message.extensions) this.#extensions = new Set(EXTENSIONS.filter((one) => message.extensions?.includes(one)))
    if (this.#mustRegister(message) && !this.#register(message)) return
    // Of its own accord a worker that runs nothing of ours any more may still be in the midst of what it was taken.
    if (!desk.heartbeat(clientId, pulseOf(message, this.#given.size)) && !this.#register(message)) return
    this.#silence?.()
    this.#silence = clock.after(this.#door.unhealthyAfterMs, () => this.#fellSilent())
    if (this.#extensions.has('ack'))
      this.#send({ type: 'heartbeat_ack', clientId, timestamp: new Date(clock.now()).toISOString() })
  }

  #mustRegister(message: HeartbeatMessage): boolean {
    const { offer, at } = this.#registered ?? {}
    if (offer === undefined || at === undefined) return true
    const isSame = sameOffer(offer, offerOf(message, this.#door.canonical, offer))
    return !isSame && this.#door.clock.monotonic() - at >= SHORTEST_REGISTRATION_MS
  }

  #register(message: HeartbeatMessage): boolean {
    const { desk, canonical, clock } = this.#door
    const offer = offerOf(message, canonical, this.#registered?.offer)
    const { clientId: worker, running } = message
    const session = this.#session(worker)
    this.#registered = { worker, offer, session, at: clock.monotonic() }
    for (const id of running ?? []) this.#given.claim(id, clock.monotonic())
    try {
      desk.register(describeSocketWorker(worker, offer, running ?? this.#given.ids), session)
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
        const given = this.#given.get(attemptId)
        if (why === 'cancelled' && given !== undefined) given.isCancelled = true
        else this.#given.lose(attemptId)
        this.#cancel(attemptId, why)
      },
      order: (order) => this.#order(order),
      over: () => {
        if (this.#registered?.session === session) this.#over(worker)
      },
    }
    return session
  }

  #execute(worker: string, leases: readonly TaskLease[]): void {
    if (this.#socket.readyState !== this.#socket.OPEN) throw new Error('the socket is closed')
    const { desk, clock } = this.#door
    for (const lease of leases) {
      try {
        const { message, limits } = executeMessage(lease)
        const said = this.#registered?.offer.languages.get(message.language) ?? message.language
        this.#given.give(lease.attemptId, { limits, sentAt: clock.monotonic(), isCancelled: false })
        this.#send({ ...message, language: said })
        // To who does not say that it has begun, being given it is that. On its own turn: the engine is not done yet.
        if (!this.#extensions.has('accepted')) setImmediate(() => desk.started(worker, lease.attemptId))
      } catch (error) {
        refuseLease(lease, { desk, worker }, error)
      }
    }
  }

  #result(message: ResultMessage, worker: string): void {
    const { desk, clock, log } = this.#door
    const { taskId } = message
    const given = this.#given.get(taskId)
    if (given === undefined && !this.#given.takeFormer(taskId)) return this.#ack(taskId, 'superseded')
    this.#given.done(taskId)
    const report =
      given === undefined
        ? ({ outcome: { kind: 'stopped' } } as const)
        : attemptReport(message, { given, worker, now: clock.monotonic() })
    desk.finished({ worker, attemptId: taskId }, report).then(
      (taken) => this.#ack(taskId, taken),
      (error: unknown) => log.error({ worker, attempt: taskId, err: error }, 'result of a worker was not taken'),
    )
  }

  #output({ taskId, stream, data, offset }: OutputMessage, worker: string): void {
    const bytes = Buffer.from(data)
    this.#door.desk.output({ worker, attemptId: taskId, stream, bytes, at: offset ?? undefined })
  }

  #order(order: WorkerOrder): void {
    if (order === 'register') this.#registered = undefined
    else if (this.#extensions.has('drain')) this.#send({ type: order })
    else if (order === 'shutdown') this.#end(1000, 'no more tasks for this worker')
  }

  /** What it had is another's by now; whether it may come back at its next heartbeat depends on who has its name. */
  #over(worker: string): void {
    this.#registered = undefined
    this.#silence?.()
    for (const id of this.#given.ids) this.#lose(id)
    if (this.#door.desk.list().some((other) => other.worker === worker))
      this.#end(CLOSE.policy, 'another worker has registered under this name')
  }

  #fellSilent(): void {
    if (this.#registered === undefined) return
    const { worker, session } = this.#registered
    this.#door.desk.disconnected(worker, session)
  }

  #lose(id: string): void {
    this.#given.lose(id)
    this.#cancel(id, 'superseded')
  }

  #cancel(taskId: string, reason: string): void {
    if (this.#extensions.has('cancel')) this.#send({ type: 'cancel', taskId, reason })
  }

  #ack(taskId: string, taken: 'applied' | 'superseded'): void {
    if (this.#extensions.has('ack')) this.#send({ type: 'result_ack', taskId, taken })
  }

  #send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #end(code: number, why: string): void {
    this.#socket.close(code, closeReason(why))
  }
}

const MOST_REASON_BYTES = 123

/** What does not fit into the frame would be an error, and half a character another. */
export function closeReason(why: string): string {
  const bytes = Buffer.from(why)
  return bytes.length <= MOST_REASON_BYTES
    ? why
    : `${bytes
        .subarray(0, 116)
        .toString()
        .replace(/\ufffd+$/, '')}...`
}
