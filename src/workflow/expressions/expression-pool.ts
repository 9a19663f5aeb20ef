import type { Clock } from '../../base/clock.ts'
import type { Value } from '../values/value.ts'
import { dropped, failedWith, overBudget, tookTooLong, valueTooLarge } from './expression-faults.ts'
import type { SliceReport } from './expression-thread.ts'
import type { Expressions } from './expressions.ts'
import { FairQueue, type Share } from './fair-queue.ts'
import { type MachineThread, type MachineThreadOptions, machineThread } from './machine-thread.ts'
import type { ScriptText } from './quickjs.ts'

export interface ExpressionLimits {
  /** The limit of processor time for one expression. */
  readonly expressionMs: number
  /** The limit of processor time for all expressions of one workflow run. */
  readonly submissionMs: number
  /** The limit of the JSON text of one expression's value. */
  readonly valueBytes: number
}

export interface ExpressionPoolOptions {
  /** The program of a thread, which calls `serveExpressions`. */
  readonly file: URL
  readonly limits: ExpressionLimits
  readonly clock: Pick<Clock, 'after'>
}

export interface ExpressionPool {
  /** Runs the expressions of one workflow run. Aborting the signal drops those that wait or run. */
  expressionsOf(share: Share, signal: AbortSignal): Expressions
  close(): Promise<void>
}

/** The first slice of an expression; nearly all need less than 1 ms. */
const SHORT_MS = 100
/**
 * An expression that needs more runs again from its start with a slice that is this many times longer, on the threads
 * for long slices.
 */
const LONGER = 10
const SHORT_THREADS = 2
const LONG_THREADS = 3

interface Job extends Share {
  readonly script: ScriptText
  readonly account: Account
  sliceMs: number
  readonly answer: PromiseWithResolvers<Value>
}

interface Account {
  usedMs: number
  /** The run has had an expression that exceeded a short slice. */
  isLong: boolean
}

interface Lane {
  readonly queue: FairQueue<Job>
  readonly threads: readonly MachineThread[]
  readonly running: Map<Job, MachineThread>
  readonly isAllowed: (share: Share) => boolean
}

/**
 * Runs the expressions of many workflow runs on threads, so that none delays another for long. Expressions have no
 * state and no effects: an expression that exceeds its slice is stopped, and run again from its start with a longer
 * slice. Two threads run short slices, and three run long slices. Of the long-slice threads a run uses at most one and
 * an instance at most two. Each group of threads shares its time by instance and run. A run that exceeds its budget
 * gets no further time.
 */
export function expressionPool({ file, limits, clock }: ExpressionPoolOptions): ExpressionPool {
  const short = laneOf({ file, clock, isLong: false })
  const long = laneOf({ file, clock, isLong: true })
  const enter = (job: Job): void => {
    const lane = job.sliceMs > SHORT_MS ? long : short
    lane.queue.add(job)
    serve(lane)
  }
  const serve = (lane: Lane): void => {
    for (const idle of lane.threads) {
      if (idle.isBusy) continue
      const job = lane.queue.take(lane.isAllowed)
      if (job === undefined) return
      lane.running.set(job, idle)
      const sliceMs = Math.min(job.sliceMs, limits.expressionMs, limits.submissionMs - job.account.usedMs)
      const { valueBytes } = limits
      void idle.run({ script: job.script, sliceMs: Math.max(1, sliceMs), valueBytes }).then((report) => {
        lane.running.delete(job)
        lane.queue.charge(job, report.usedMs)
        settle(job, report)
        serve(lane)
      })
    }
  }
  const settle = (job: Job, { end, usedMs }: SliceReport): void => {
    const { account, script, answer } = job
    account.usedMs += usedMs
    if ('json' in end) answer.resolve(JSON.parse(end.json) as Value)
    else if ('trouble' in end) answer.reject(failedWith(script, end.trouble))
    else if ('isTooLarge' in end) answer.reject(valueTooLarge(script, limits.valueBytes))
    else if (account.usedMs >= limits.submissionMs) answer.reject(overBudget(limits.submissionMs))
    else if (job.sliceMs >= limits.expressionMs) answer.reject(tookTooLong(script, limits.expressionMs))
    else {
      account.isLong = true
      job.sliceMs *= LONGER
      enter(job)
    }
  }
  return {
    expressionsOf({ instance, submission }, signal) {
      const account: Account = { usedMs: 0, isLong: false }
      signal.addEventListener('abort', () => drop([short, long], { instance, submission }), { once: true })
      return {
        async run({ context, ...rest }) {
          if (signal.aborted) throw dropped()
          if (account.usedMs >= limits.submissionMs) throw overBudget(limits.submissionMs)
          const answer = Promise.withResolvers<Value>()
          const sliceMs = account.isLong ? SHORT_MS * LONGER : SHORT_MS
          const script = { ...rest, contextText: JSON.stringify(context) }
          enter({ instance, submission, script, account, sliceMs, answer })
          return answer.promise
        },
      }
    },
    async close() {
      await Promise.all([...short.threads, ...long.threads].map((one) => one.stop()))
    },
  }
}

function laneOf(options: MachineThreadOptions): Lane {
  const count = options.isLong ? LONG_THREADS : SHORT_THREADS
  const threads = Array.from({ length: count }, () => machineThread(options))
  const running = new Map<Job, MachineThread>()
  const isAllowed = ({ instance, submission }: Share): boolean => {
    const held = [...running.keys()].filter((job) => job.instance === instance)
    return held.length < LONG_THREADS - 1 && held.every((job) => job.submission !== submission)
  }
  return { queue: new FairQueue(), threads, running, isAllowed: options.isLong ? isAllowed : () => true }
}

/** Rejects the waiting and the running expressions of a workflow run. */
function drop(lanes: readonly Lane[], share: Share): void {
  for (const { queue, running } of lanes) {
    for (const job of queue.remove(share)) job.answer.reject(dropped())
    for (const [job, machine] of running) {
      if (job.instance !== share.instance || job.submission !== share.submission) continue
      job.answer.reject(dropped())
      job.sliceMs = Number.POSITIVE_INFINITY // the expression gets no further slice
      void machine.stop()
    }
  }
}
