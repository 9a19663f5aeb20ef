/**
 * Runs inputs in batches and checks the invariants: no exception leaves the engine, no internal error, no promise stays
 * pending, all counters return to zero, every frame sent is valid, no input takes long, and the heap does not grow.
 */
import { heldBytes } from '../../src/testing/held-memory.ts'
import { clientRun } from './client-target.ts'
import { hpackRun } from './hpack-target.ts'
import { type Input, type Step, type TargetName, writeInput } from './input.ts'
import { makeInput, type TargetChoice } from './make-input.ts'
import { serverRun } from './server-target.ts'
import type { Run, Target } from './target.ts'

export interface FuzzOptions {
  readonly inputs: number
  readonly seed: number
  readonly target: TargetChoice
  /** The number of the first input, to resume where another run was. */
  readonly from?: number
  readonly seconds?: number
  /** Called now and then with the progress. */
  onProgress?(progress: Progress): void
}

export interface Progress {
  readonly done: number
  readonly perSecond: number
  readonly worstMs: number
  readonly heapGrowthBytes: number
}

export interface Finding {
  readonly input: Input
  readonly number: number
  readonly problems: readonly string[]
}

export interface FuzzReport extends Progress {
  readonly seconds: number
  readonly findings: readonly Finding[]
}

const SLOW_MS = 50
export const MOST_HEAP_GROWTH = 64 << 20
const BATCH = 32
const MOST_FINDINGS = 10
const RECHECKS = 5
/** The first inputs compile code and fill caches; the heap is measured after them. */
const WARM_UP = 5000
const PROGRESS_EVERY = 200_000

const TARGETS: Readonly<Record<TargetName, Target>> = { server: serverRun, client: clientRun, hpack: hpackRun }

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Uncaught errors and unhandled rejections of any origin. */
const stray: string[] = []
const onStray = (error: unknown): void => {
  stray.push(`nobody caught ${error instanceof Error ? error.stack : String(error)}`)
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  process.on('uncaughtException', onStray)
  process.on('unhandledRejection', onStray)
  try {
    return await new Campaign(options).run()
  } finally {
    process.off('uncaughtException', onStray)
    process.off('unhandledRejection', onStray)
  }
}

class Campaign {
  readonly #options: FuzzOptions
  readonly #findings: Finding[] = []
  readonly #startedAt = performance.now()
  #done = 0
  #worstMs = 0
  #heapAtFirst = 0
  #heapGrowth = 0

  constructor(options: FuzzOptions) {
    this.#options = options
  }

  async run(): Promise<FuzzReport> {
    const { inputs, seed, target, from = 0 } = this.#options
    let nextProgress = PROGRESS_EVERY
    while (this.#done < inputs && this.#findings.length < MOST_FINDINGS && !this.#isOutOfTime()) {
      const size = Math.min(BATCH, inputs - this.#done)
      const first = from + this.#done
      await this.#batch(
        first,
        Array.from({ length: size }, (_, i) => makeInput(seed, first + i, target)),
      )
      this.#done += size
      if (this.#heapAtFirst === 0 && this.#done >= Math.min(WARM_UP, inputs / 2)) this.#heapAtFirst = await heldBytes()
      if (this.#done < nextProgress) continue
      nextProgress += PROGRESS_EVERY
      this.#heapGrowth = (await heldBytes()) - this.#heapAtFirst
      this.#options.onProgress?.(this.#progress())
    }
    this.#heapGrowth = (await heldBytes()) - this.#heapAtFirst
    return { ...this.#progress(), seconds: this.#seconds(), findings: this.#findings }
  }

  #isOutOfTime(): boolean {
    return this.#options.seconds !== undefined && this.#seconds() >= this.#options.seconds
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  #progress(): Progress {
    const perSecond = this.#done / this.#seconds()
    return { done: this.#done, perSecond, worstMs: this.#worstMs, heapGrowthBytes: this.#heapGrowth }
  }

  /** Runs all inputs of a batch together; when the batch has a problem, runs each of them again alone. */
  async #batch(first: number, inputs: readonly Input[]): Promise<void> {
    const { problems, worstMs } = await runTogether(inputs)
    if (problems.length === 0 && worstMs <= SLOW_MS) {
      this.#worstMs = Math.max(this.#worstMs, worstMs)
      return
    }
    const before = this.#findings.length
    for (const [i, input] of inputs.entries()) {
      const alone = await judgeInput(input)
      this.#worstMs = Math.max(this.#worstMs, alone.worstMs)
      if (alone.problems.length > 0) this.#findings.push({ input, number: first + i, problems: alone.problems })
    }
    if (this.#findings.length > before || problems.length === 0) return
    // No input fails alone: the whole batch is the finding.
    this.#findings.push({ input: inputs[0] as Input, number: first, problems: ['only as a batch', ...problems] })
  }
}

interface Outcome {
  readonly problems: readonly string[]
  readonly worstMs: number
}

/** Runs one input alone. A slow one is tried again: a garbage collection or a compilation is no finding. */
export async function judgeInput(input: Input): Promise<Outcome> {
  let { problems, worstMs } = await runTogether([input])
  for (let i = 0; i < RECHECKS && worstMs > SLOW_MS; i++)
    worstMs = Math.min(worstMs, (await runTogether([input])).worstMs)
  if (worstMs > SLOW_MS) problems = [...problems, `took ${worstMs.toFixed(1)} ms`]
  return { problems, worstMs }
}

/** Runs the inputs in lockstep, with a turn of the event loop wherever one requests it. */
async function runTogether(inputs: readonly Input[]): Promise<Outcome> {
  stray.length = 0
  const problems: string[] = []
  const timer = new Stopwatch()
  const runs = inputs.map((input) => timer.time(() => new Progression(input)))
  for (let waiting = runs; waiting.length > 0; ) {
    waiting = waiting.filter((run) => timer.time(() => run.goOn(problems)))
    await timer.timeTurn(inputs.length)
  }
  for (const { run } of runs) guard(problems, () => run.finish())
  for (let i = 0; i < 3; i++) await timer.timeTurn(inputs.length)
  for (const { run } of runs) problems.push(...run.problems())
  problems.push(...stray)
  return { problems, worstMs: timer.worstMs }
}

/** The position in an input. */
class Progression {
  readonly run: Run
  readonly #steps: readonly Step[]
  #at = 0

  constructor(input: Input) {
    this.run = TARGETS[input.target](input)
    this.#steps = input.steps
  }

  /** Runs up to the next turn; false when there are no more steps. */
  goOn(problems: string[]): boolean {
    while (this.#at < this.#steps.length) {
      const step = this.#steps[this.#at++] as Step
      if (step.do === 'turn') return true
      guard(problems, () => this.run.step(step))
    }
    return false
  }
}

function guard(problems: string[], action: () => void): void {
  try {
    action()
  } catch (error) {
    problems.push(`the engine threw ${(error as Error).stack}`)
  }
}

/**
 * The most CPU time that the engine took without a pause: a busy machine does not change it. A turn serves all runs of a
 * batch, so its limit grows with the batch.
 */
class Stopwatch {
  worstMs = 0

  time<T>(work: () => T): T {
    const start = cpuMs()
    const result = work()
    this.worstMs = Math.max(this.worstMs, cpuMs() - start)
    return result
  }

  async timeTurn(runs: number): Promise<void> {
    const start = cpuMs()
    await turn()
    this.worstMs = Math.max(this.worstMs, (cpuMs() - start) / runs)
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

export const writeFinding = ({ input, number, problems }: Finding, seed: number): string =>
  writeInput(input, `seed ${seed}, input ${number}\n${problems.join('\n')}`)
