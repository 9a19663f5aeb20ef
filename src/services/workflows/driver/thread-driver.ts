import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import type { ExpressionLimits } from '../../../workflow/expressions/expression-pool.ts'
import type { StepOutcome } from '../../../workflow/run/state.ts'
import type { RunHost, WorkflowDriver } from './driver.ts'
import { mayBeDelayed, messageBatches } from './message-batches.ts'
import type { DriverQuestion, FromDriverThread, ToDriverThread } from './thread-messages.ts'

interface DrivenRun {
  readonly host: RunHost
  readonly outcome: PromiseWithResolvers<StepOutcome>
  /** The number of open questions. */
  open: number
}

/** Limits of a run; sent to each thread as its `workerData`. */
export interface RunLimits {
  readonly expressions: ExpressionLimits
  /** The largest `cwl.output.json` that is read. */
  readonly outputJsonBytes: number
}

export interface ThreadDriverOptions {
  readonly file: URL
  readonly limits: RunLimits
  readonly threads: number
  /** Without a clock, no message waits for others. */
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Drives runs in threads, so that their computation and the clients' JavaScript do not delay requests on the main
 * thread. When a thread crashes, its runs fail and a new thread replaces it.
 */
export function threadDriver({ file, limits, threads, clock = NO_DELAY }: ThreadDriverOptions): WorkflowDriver {
  const pool: (DrivingThread | undefined)[] = Array.from({ length: threads })
  let isClosed = false
  const leastBusy = (): DrivingThread => {
    const at = pool.findIndex((one) => one === undefined || one.isGone || one.load === 0)
    const index =
      at >= 0 ? at : pool.reduce((best, one, now) => ((one?.load ?? 0) < (pool[best]?.load ?? 0) ? now : best), 0)
    const before = pool[index]
    const thread =
      before === undefined || before.isGone
        ? new DrivingThread(new Worker(file, { workerData: limits }), clock)
        : before
    pool[index] = thread
    return thread
  }
  return {
    async run(run, host) {
      if (isClosed) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
      return leastBusy().run({ kind: 'run', run }, host)
    },
    async close() {
      isClosed = true
      await Promise.all(pool.map((one) => one?.end()))
    },
  }
}

const NO_DELAY: Pick<Clock, 'after'> = {
  after(_, callback) {
    const due = setImmediate(callback)
    return () => clearImmediate(due)
  },
}

class DrivingThread {
  readonly #worker: Worker
  readonly #runs = new Map<string, DrivenRun>()
  isGone = false

  /** Messages of one turn are sent together; those that may wait are sent with the next ones. */
  readonly #send: (message: ToDriverThread, mayWait?: boolean) => void

  constructor(worker: Worker, clock: Pick<Clock, 'after'>) {
    this.#worker = worker
    this.#send = messageBatches<ToDriverThread>((list) => {
      if (!this.isGone) this.#worker.postMessage(list)
    }, clock)
    this.#worker.unref()
    this.#worker.on('message', (list: readonly FromDriverThread[]) => {
      for (const message of list) this.#receive(message)
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', () => this.#fail('the thread has ended'))
  }

  get load(): number {
    return this.#runs.size
  }

  run(message: Extract<ToDriverThread, { kind: 'run' }>, host: RunHost): Promise<StepOutcome> {
    const { id } = message.run
    const outcome = Promise.withResolvers<StepOutcome>()
    this.#runs.set(id, { host, outcome, open: 0 })
    this.#send(message)
    if (host.signal.aborted) this.#send({ kind: 'cancel', submission: id })
    else host.signal.addEventListener('abort', () => this.#send({ kind: 'cancel', submission: id }), { once: true })
    return outcome.promise
  }

  async end(): Promise<void> {
    this.isGone = true
    await this.#worker.terminate()
  }

  #receive(message: FromDriverThread): void {
    const { submission } = message
    const run = this.#runs.get(submission)
    if (run === undefined) return
    if (message.kind === 'ended') run.host.ended(message.end)
    else if (message.kind === 'question') void this.#answer(message.question, message.ask, run)
    else {
      this.#runs.delete(submission)
      if (message.kind === 'over') run.outcome.resolve(message.outcome)
      else run.outcome.reject(new Error(message.what))
    }
  }

  async #answer(question: number, ask: DriverQuestion, run: DrivenRun): Promise<void> {
    run.open += 1
    try {
      const value = await answerTo(ask, run.host)
      this.#send({ kind: 'answer', question, value }, mayBeDelayed(run.open))
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error)
      this.#send({
        kind: 'refusal',
        question,
        fault: error instanceof FaultError ? error.fault : { kind: 'bug', what },
      })
    } finally {
      run.open -= 1
    }
  }

  #fail(what: string): void {
    this.isGone = true
    for (const { outcome } of this.#runs.values()) outcome.reject(new Error(what))
    this.#runs.clear()
  }
}

function answerTo(ask: DriverQuestion, { blobs, stager, runStep, runsImages }: RunHost): Promise<unknown> | boolean {
  switch (ask.what) {
    case 'has':
      return blobs.has(ask.digest)
    case 'read':
      return blobs.read(ask.digest, ask.limit)
    case 'put':
      return blobs.put(ask.digest, ask.bytes)
    case 'find':
      return stager.find(ask.location)
    case 'stage-out':
      return stager.put(ask.node, ask.to)
    case 'step':
      return runStep(ask.step)
    case 'images':
      return runsImages(ask.inPlaces)
  }
}
