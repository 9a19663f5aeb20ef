import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { LeaseMessage } from '../wire/workers/lease.ts'
import type { WorkerRegistration } from '../wire/workers/registration.ts'
import type { TaskNews } from '../wire/workers/status.ts'
import type { StageHooks } from './attempt/executor.ts'
import { type LiveInput, liveInput } from './attempt/live-input.ts'
import { drainSlots, giveUpSlots } from './daemon-drain.ts'
import type { LinkListener, WorkerLink } from './links/worker-link.ts'
import { openSlots, type SlotAttempt, type WorkerSlots } from './slots.ts'

export interface DaemonOptions {
  readonly link: WorkerLink
  readonly clock: Clock
  readonly log: Log
  /** Read whenever the server is told; what may change is a getter. */
  readonly registration: Omit<WorkerRegistration, 'running'>
  /** Never throws. */
  readonly run: (
    attempt: Pick<SlotAttempt, 'lease' | 'begun'>,
    hooks: StageHooks,
    signal: AbortSignal,
  ) => Promise<TaskNews>
  readonly heartbeatMs: number
  /** How long attempts may go on once the worker is to stop. */
  readonly drainMs: number
  /** The server has the registration that was read last. */
  readonly registered?: () => void
  /** How long the machine is still there once it is being taken away. */
  readonly preemptMs: number
  /** 0 idle to 1 full; undefined where it cannot be told. */
  readonly load: () => number | undefined
}

export interface Daemon {
  /** Resolves when the server told us to end, and we have; rejects when it will not have us. */
  readonly ended: Promise<void>
  /** Takes nothing new, lets attempts finish, hands back the rest and says goodbye. Asking twice is asking once. */
  stop(): Promise<void>
  /** The machine is being taken away: reports it at once, ends all attempts, and does not report how they ended. */
  preempt(): Promise<void>
  /** Says anew what is offered: the registration has changed. What runs goes on. */
  offerAgain(): void
}

/** All that a daemon knows. */
interface Work {
  readonly options: DaemonOptions
  readonly slots: WorkerSlots
  readonly stats: { completed: number; failed: number }
  /** The live inputs of all attempts that this worker holds, by attempt id. */
  readonly inputs: Map<string, LiveInput>
  /** The server wants us to take nothing new. */
  isDraining: boolean
  isStopping: boolean
  /** The machine is being taken away: the server has been told that other workers must run what we run. */
  isPreempted: boolean
}

const newWork = (options: DaemonOptions): Work => ({
  options,
  slots: openSlots(options.registration.slots, options.clock),
  stats: { completed: 0, failed: 0 },
  inputs: new Map(),
  isDraining: false,
  isStopping: false,
  isPreempted: false,
})

/** A worker at work: takes leases as they come, and keeps the server informed. */
export function startDaemon(options: DaemonOptions): Daemon {
  const { link, clock } = options
  const work = newWork(options)
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {})
  let stopping: Promise<void> | undefined
  let preempting: Promise<void> | undefined
  let forgetBeat = (): void => {}
  let isOver = false

  const beatOn = (): void => {
    if (isOver) return
    forgetBeat = clock.after(options.heartbeatMs, () => {
      void beat(work, stop).finally(beatOn)
    })
  }
  const leave = (): void => {
    isOver = true
    forgetBeat()
    link.close()
  }
  const end = async (): Promise<void> => {
    work.isStopping = true
    await beat(work, stop)
    await drainSlots(work.slots, { clock, drainMs: options.drainMs })
    await link.unregister()
    leave()
    ended.resolve()
  }
  const stop = (): Promise<void> => (stopping ??= end())
  const endPreempted = async (): Promise<void> => {
    work.isStopping = true
    work.isPreempted = true
    const report = async (): Promise<boolean> => {
      if (!(await beat(work, stop))) return false
      link.close() // or it would register again: the server does not know us any more
      return true
    }
    if (!isOver) await giveUpSlots(work.slots, { clock, preemptMs: options.preemptMs, report })
    leave()
    ended.resolve()
  }
  const refused = (error: Error): void => {
    for (const { lease } of work.slots.all()) work.slots.end(lease.attemptId, 'left')
    leave()
    ended.reject(error)
  }

  link.open(listenerOf(work, { stop: () => void stop(), refused }))
  beatOn()
  const preempt = (): Promise<void> => (preempting ??= endPreempted())
  return { ended: ended.promise, stop, preempt, offerAgain: () => link.again?.() }
}

interface Ends {
  stop(): void
  refused(error: Error): void
}

function listenerOf(work: Work, { stop, refused }: Ends): LinkListener {
  const { options, slots } = work
  const { log, clock } = options
  let isLost = false
  let listed: { readonly ids: readonly string[]; readonly at: number } = { ids: [], at: 0 }
  return {
    registration() {
      listed = { ids: slots.ids(), at: clock.monotonic() }
      return { ...options.registration, running: listed.ids }
    },
    registered() {
      slots.renewed(listed.ids, listed.at)
      // Messages may have been lost while the link was down: running attempts are reported again, and prefetched
      // attempts go back to the server, which may have started them elsewhere.
      for (const { lease, phase } of slots.all()) {
        if (phase === 'running') options.link.started(lease.attemptId)
        if (phase === 'ahead') slots.end(lease.attemptId, 'returned')
      }
      isLost = false
      log.info({ running: listed.ids.length }, 'registered')
      options.registered?.()
    },
    leases(leases) {
      for (const lease of leases) take(work, lease)
    },
    begin: (attemptId) => slots.begin(attemptId),
    stop(attemptId, why) {
      log.debug({ attempt: attemptId, why }, 'told to stop an attempt')
      slots.end(attemptId, why)
    },
    order(order) {
      log.info({ order }, 'the server gave an order')
      if (order === 'drain') work.isDraining = true
      else if (order === 'resume') work.isDraining = false
      else if (order === 'shutdown') stop()
    },
    input: ({ attemptId, number, event }) => work.inputs.get(attemptId)?.give(number, event),
    lost(error) {
      // Once for each outage: the link tries again for as long as it takes.
      log[isLost ? 'debug' : 'warn']({ err: error }, 'waiting for the server: it cannot be reached')
      isLost = true
    },
    refused,
  }
}

function take(work: Work, lease: LeaseMessage): void {
  const { slots, options } = work
  // One that comes ahead may overtake the word that the one before it has its slot now.
  const most = slots.size + (lease.prefetch ? options.registration.prefetch : 0)
  const isFull = slots.busy + (lease.prefetch ? slots.ahead : 0) >= most
  if (work.isStopping || isFull) {
    const what = work.isStopping ? 'its worker is leaving' : 'its worker has no slot free'
    void options.link.report(lease.attemptId, { kind: 'returned', what, ...(isFull && { noSlot: true }) })
    return
  }
  const held = slots.take(lease)
  if (held === undefined) return
  work.inputs.set(lease.attemptId, inputFor(options.link, lease.attemptId))
  void carryOut(work, held).finally(() => {
    work.inputs.delete(lease.attemptId)
    slots.free(held)
  })
}

async function carryOut(work: Work, held: SlotAttempt): Promise<void> {
  const { options, slots, stats, inputs } = work
  const { link, log, run } = options
  const { lease, signal } = held
  const { attemptId } = lease
  log.debug({ attempt: attemptId, operation: lease.operation }, 'an attempt begins')
  const ran = await run(held, hooksFor(link, held, inputs.get(attemptId)), signal)
  if (mayBePreemption(ran)) await new Promise<void>((resolve) => void options.clock.after(SIGTERM_HOLD_MS, resolve))
  const news = work.isPreempted ? undefined : newsFor(held, ran)
  slots.reporting(held)
  if (news === undefined) return
  const isDone = news.kind === 'result' || news.kind === 'timeout'
  stats[isDone ? 'completed' : 'failed']++
  const answer = await link.report(attemptId, news)
  const fields = { attempt: attemptId, ended: news.kind, ...('what' in news && { what: news.what }), answer }
  log[news.kind === 'fault' ? 'warn' : 'info'](fields, 'an attempt ended')
}

/** Slurm and others send SIGTERM to all processes of a job at once, and a command may end sooner than we hear of it. */
const SIGTERM_HOLD_MS = 250

const mayBePreemption = (ran: TaskNews): boolean => ran.kind === 'result' && ran.signal === 'SIGTERM'

const inputFor = (link: WorkerLink, attemptId: string): LiveInput =>
  liveInput({
    attached: () => link.prompt?.(attemptId),
    taken: (number) => link.inputTaken?.(attemptId, number),
  })

const hooksFor = (link: WorkerLink, held: SlotAttempt, input: LiveInput | undefined): StageHooks => ({
  ...(input && { input }),
  started() {
    held.phase = 'running'
    link.started(held.lease.attemptId)
  },
  stdout: (bytes) => link.output(held.lease.attemptId, 'stdout', bytes),
  stderr: (bytes) => link.output(held.lease.attemptId, 'stderr', bytes),
})

/** What ended by itself is told as it ended, though somebody wanted to end it at the same moment. */
function newsFor({ endedBy }: SlotAttempt, ran: TaskNews): TaskNews | undefined {
  if (ran.kind !== 'stopped') return ran
  if (endedBy === 'left') return undefined
  if (endedBy === 'returned') return { kind: 'returned', what: 'its worker had not begun it' }
  return endedBy === 'timeout' ? { kind: 'timeout', result: undefined, fn: undefined } : ran
}

/** Renews what we hold, and hears what the server could not tell otherwise. False when the server did not answer. */
async function beat(work: Work, stop: () => Promise<void>): Promise<boolean> {
  const { options, slots, stats } = work
  const running = slots.ids()
  const at = options.clock.monotonic()
  const answer = await options.link.heartbeat({
    state: work.isStopping ? 'draining' : running.length > 0 ? 'busy' : 'idle',
    stats: { active: running.length, ...stats },
    running,
    load: options.load(),
    ...(work.isPreempted && { preempted: true }),
  })
  if (answer === undefined) return false
  slots.renewed(running, at)
  for (const id of answer.cancel) slots.end(id, 'cancelled')
  work.isDraining = answer.drain
  if (answer.shouldShutdown && !work.isStopping) void stop()
  return true
}
