import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import { FaultError } from '../../../base/fault.ts'
import type { ExpressionLimits } from '../../../workflow/expressions/expression-pool.ts'
import type { StepOutcome } from '../../../workflow/run/state.ts'
import type { RunHost, WorkflowDriver } from './driver.ts'
import { mayBeDelayed, messageBatches } from './message-batches.ts'
import type { DriverQuestion, FromDriverThread, ToDriverThread } from './thread-messages.ts'

interface Course {
  readonly host: RunHost
  readonly outcome: PromiseWithResolvers<StepOutcome>
  /** Questions that are not answered yet. */
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
  /** Without one nothing waits for company. */
  readonly clock?: Pick<Clock, 'after'>
}

/**
 * Drives runs in threads: their computation and JavaScript of strangers delay no request of the main thread. When a
 * thread crashes, its runs fail, and a new thread takes its place.
 */
export function threadDriver({ file, limits, threads, clock = HASTY }: ThreadDriverOptions): WorkflowDriver {
  const crew: (DrivingThread | undefined)[] = Array.from({ length: threads })
  let isClosed = false
  const leastBusy = (): DrivingThread => {
    const at = crew.findIndex((one) => one === undefined || one.isGone || one.load === 0)
    const index =
      at >= 0 ? at : crew.reduce((best, one, now) => ((one?.load ?? 0) < (crew[best]?.load ?? 0) ? now : best), 0)
    const before = crew[index]
    const thread =
      before === undefined || before.isGone
        ? new DrivingThread(new Worker(file, { workerData: limits }), clock)
        : before
    crew[index] = thread
    return thread
  }
  return {
    async run(run, host) {
      if (isClosed) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
      return leastBusy().run({ kind: 'run', run }, host)
    },
    async close() {
      isClosed = true
      await Promise.all(crew.map((one) => one?.end()))
    },
  }
}

const HASTY: Pick<Clock, 'after'> = {
  after(_, callback) {
    const due = setImmediate(callback)
    return () => clearImmediate(due)
  },
}

class DrivingThread {
  readonly #worker: Worker
  readonly #courses = new Map<string, Course>()
  isGone = false

  /** Messages of one turn are sent together; those that may wait, with the next ones. */
  readonly #say: (message: ToDriverThread, mayWait?: boolean) => void

  constructor(worker: Worker, clock: Pick<Clock, 'after'>) {
    this.#worker = worker
    this.#say = messageBatches<ToDriverThread>((list) => {
      if (!this.isGone) this.#worker.postMessage(list)
    }, clock)
    this.#worker.unref()
    this.#worker.on('message', (list: readonly FromDriverThread[]) => {
      for (const message of list) this.#hear(message)
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', () => this.#fail('the thread has ended'))
  }

  get load(): number {
    return this.#courses.size
  }

  run(message: Extract<ToDriverThread, { kind: 'run' }>, host: RunHost): Promise<StepOutcome> {
    const { id } = message.run
    const outcome = Promise.withResolvers<StepOutcome>()
    this.#courses.set(id, { host, outcome, open: 0 })
    this.#say(message)
    if (host.signal.aborted) this.#say({ kind: 'cancel', submission: id })
    else host.signal.addEventListener('abort', () => this.#say({ kind: 'cancel', submission: id }), { once: true })
    return outcome.promise
  }

  async end(): Promise<void> {
    this.isGone = true
    await this.#worker.terminate()
  }

  #hear(message: FromDriverThread): void {
    const { submission } = message
    const course = this.#courses.get(submission)
    if (course === undefined) return
    if (message.kind === 'ended') course.host.ended(message.end)
    else if (message.kind === 'question') void this.#answer(message.question, message.ask, course)
    else {
      this.#courses.delete(submission)
      if (message.kind === 'over') course.outcome.resolve(message.outcome)
      else course.outcome.reject(new Error(message.what))
    }
  }

  async #answer(question: number, ask: DriverQuestion, course: Course): Promise<void> {
    course.open += 1
    try {
      const value = await answerTo(ask, course.host)
      this.#say({ kind: 'answer', question, value }, mayBeDelayed(course.open))
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error)
      this.#say({ kind: 'refusal', question, fault: error instanceof FaultError ? error.fault : { kind: 'bug', what } })
    } finally {
      course.open -= 1
    }
  }

  #fail(what: string): void {
    this.isGone = true
    for (const { outcome } of this.#courses.values()) outcome.reject(new Error(what))
    this.#courses.clear()
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
