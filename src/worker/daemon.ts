import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { LeaseMessage } from '../wire/workers/lease-stream.ts'
import type { WorkerRegistration } from '../wire/workers/registration.ts'
import type { AttemptState } from '../wire/workers/report.ts'
import type { StageHooks } from './attempt/executor.ts'
import { type LiveInput, liveInput } from './attempt/live-input.ts'
import { drainSlots, giveUpSlots } from './daemon-drain.ts'
import type { LinkListener, WorkerLink } from './links/worker-link.ts'
import { openSlots, type SlotAttempt, type WorkerSlots } from './slots.ts'

export interface DaemonOptions {
  readonly link: WorkerLink
  readonly clock: Clock
  readonly log: Log
  /** Read at every registration; values that may change are getters. */
  readonly registration: Omit<WorkerRegistration, 'running'>
  /** Never throws. */
  readonly run: (
    attempt: Pick<SlotAttempt, 'lease' | 'begun'>,
    hooks: StageHooks,
    signal: AbortSignal,
  ) => Promise<AttemptState>
  readonly heartbeatMs: number
  /** The time that running attempts get to finish when the worker stops. */
  readonly drainMs: number
  /** Called when the server has accepted the registration that was read last. */
  readonly registered?: () => void
  /** The time from a preemption notice to the loss of the machine. */
  readonly preemptMs: number
  /** From 0 (idle) to 1 (full); undefined where it is not measured. */
  readonly load: () => number | undefined
}

export interface Daemon {
  /** Resolves when the worker has ended at the request of the server; rejects when the server refuses the worker. */
  readonly ended: Promise<void>
  /**
   * Accepts no new attempts, waits for running ones, returns the others and deregisters. A second call joins the first.
   */
  stop(): Promise<void>
  /** The machine is being preempted: reports it at once, kills all attempts, and does not report their ends. */
  preempt(): Promise<void>
  /** Registers again, because the registration has changed. Attempts continue. */
  offerAgain(): void
}

/** The state of a daemon. */
interface Work {
  readonly options: DaemonOptions
  readonly slots: WorkerSlots
  readonly stats: { completed: number; failed: number }
  /** The live inputs of all attempts that this worker holds, by attempt id. */
  readonly inputs: Map<string, LiveInput>
  /** The server has ordered a drain: it sends no new leases. */
  isDraining: boolean
  isStopping: boolean
  /** The machine is being preempted: the server assigns the attempts to other workers. */
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

/** Runs the leases that arrive, and reports heartbeats and results to the server. */
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
      link.close() // otherwise the link would register again: the server has removed this worker
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
      // Messages may have been lost while the link was down. So running attempts are reported again, and prefetched
      // attempts are returned: the server may have started them on another worker.
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
      log.debug({ attempt: attemptId, why }, 'server requested to stop an attempt')
      slots.end(attemptId, why)
    },
    order(order) {
      log.info({ order }, 'order received from the server')
      if (order === 'drain') work.isDraining = true
      else if (order === 'resume') work.isDraining = false
      else if (order === 'shutdown') stop()
    },
    input({ attemptId, number, event }) {
      if (slots.has(attemptId)) inputFor(work, attemptId).give(number, event)
    },
    lost(error) {
      // One warning for each outage: the link retries until it is closed.
      log[isLost ? 'debug' : 'warn']({ err: error }, 'server cannot be reached, retrying')
      isLost = true
    },
    refused,
  }
}

function take(work: Work, lease: LeaseMessage): void {
  const { slots, options } = work
  // A prefetched lease may arrive before the message that its predecessor has a slot.
  const most = slots.size + (lease.prefetch ? options.registration.prefetch : 0)
  const isFull = slots.busy + (lease.prefetch ? slots.ahead : 0) >= most
  if (work.isStopping || isFull) {
    const what = work.isStopping ? 'its worker is leaving' : 'its worker has no slot free'
    void options.link.report(lease.attemptId, { kind: 'returned', what, ...(isFull && { noSlot: true }) })
    return
  }
  const held = slots.take(lease)
  if (held === undefined) return
  void runAttempt(work, held).finally(() => {
    work.inputs.delete(lease.attemptId)
    slots.free(held)
  })
}

async function runAttempt(work: Work, held: SlotAttempt): Promise<void> {
  const { options, slots, stats } = work
  const { link, log, run } = options
  const { lease, signal } = held
  const { attemptId } = lease
  log.debug({ attempt: attemptId, operation: lease.operation }, 'attempt started')
  const ran = await run(held, hooksFor(work, held), signal)
  if (mayBePreemption(ran)) await new Promise<void>((resolve) => void options.clock.after(SIGTERM_HOLD_MS, resolve))
  const news = work.isPreempted ? undefined : newsFor(held, ran)
  slots.reporting(held)
  if (news === undefined) return
  const isDone = news.kind === 'result' || news.kind === 'timeout'
  stats[isDone ? 'completed' : 'failed']++
  const answer = await link.report(attemptId, news)
  const fields = { attempt: attemptId, ended: news.kind, ...('what' in news && { what: news.what }), answer }
  log[news.kind === 'fault' ? 'warn' : 'info'](fields, 'attempt ended')
}

/**
 * Slurm and others send SIGTERM to all processes of a job at once: a command may end before this worker gets the
 * signal.
 */
const SIGTERM_HOLD_MS = 250

const mayBePreemption = (ran: AttemptState): boolean => ran.kind === 'result' && ran.signal === 'SIGTERM'

/** Created by the first input of a client or by the start of an interactive stage. */
function inputFor({ options: { link }, inputs }: Work, attemptId: string): LiveInput {
  const known = inputs.get(attemptId)
  if (known !== undefined) return known
  const made = liveInput({
    attached: () => link.prompt?.(attemptId),
    taken: (number) => link.inputTaken?.(attemptId, number),
  })
  inputs.set(attemptId, made)
  return made
}

const hooksFor = (work: Work, held: SlotAttempt): StageHooks => ({
  input: () => inputFor(work, held.lease.attemptId),
  started() {
    held.phase = 'running'
    work.options.link.started(held.lease.attemptId)
  },
  stdout: (bytes) => work.options.link.output(held.lease.attemptId, 'stdout', bytes),
  stderr: (bytes) => work.options.link.output(held.lease.attemptId, 'stderr', bytes),
})

/** An attempt that ended by itself is reported with its own result, even if it was stopped at the same moment. */
function newsFor({ endedBy }: SlotAttempt, ran: AttemptState): AttemptState | undefined {
  if (ran.kind !== 'stopped') return ran
  if (endedBy === 'left') return undefined
  if (endedBy === 'returned') return { kind: 'returned', what: 'its worker had not begun it' }
  return endedBy === 'timeout' ? { kind: 'timeout', result: undefined, fn: undefined } : ran
}

/** Sends a heartbeat, which renews all leases, and applies the answer. Returns false when the server did not answer. */
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
