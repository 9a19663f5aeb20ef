import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge, type Runner } from '../../test/cwl/judge.ts'
import { cwlHere } from '../../test/cwl/run-here.ts'
import { readSuite, type SuiteTest } from '../../test/cwl/suite.ts'
import { type Contestant, contestants } from './contestants.ts'
import { timed } from './timed.ts'

/** Every so manieth test stands for all: cwltool takes a second and more for each. */
const STRIDE = 4
/** Some tests sleep for a while, whoever runs them: others go on meanwhile. */
const AT_ONCE = 8

export interface SuiteTimes {
  readonly tests: number
  readonly passed: number
  readonly serverMs: number
  /** Undefined without cwltool. */
  readonly sample: SampleTimes | undefined
}

/** Of the tests that all were given. */
export interface SampleTimes {
  readonly tests: number
  /** By one client that stays, as the server does. */
  readonly serverMs: number
  /** By a process for each test. */
  readonly processesMs: number
  /** The same: it knows no other way. */
  readonly cwltoolMs: number
}

/**
 * The conformance suite against a server that is there, judged; and a sample of it beside cwltool, where only the time
 * counts: what comes of it is judged in the first part.
 */
export async function suiteTimes(folder: string, url: string): Promise<SuiteTimes> {
  const tests = readSuite(join(folder, 'conformance_tests.yaml'))
  const runner: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=suite', ...words)
  const whole = await timeOf(tests, async (test) => (await judge(test, runner)).verdict === 'passed')
  const [ours, theirs] = ['server', 'cwltool'].map((name) => contestants(url).find((one) => one.name === name))
  const told = { tests: tests.length, passed: whole.passed, serverMs: whole.ms }
  if (ours === undefined || theirs === undefined) return { ...told, sample: undefined }
  const some = tests.filter(({ tool }, at) => at % STRIDE === 0 && tool !== undefined)
  const again: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=again', ...words)
  const { ms: serverMs } = await timeOf(some, async (test) => (await judge(test, again)).verdict === 'passed')
  const { ms: processesMs } = await timeOf(some, byProcess(ours))
  const { ms: cwltoolMs } = await timeOf(some, byProcess(theirs))
  return { ...told, sample: { tests: some.length, serverMs, processesMs, cwltoolMs } }
}

const byProcess =
  ({ name, argv }: Contestant) =>
  async ({ tool, job }: SuiteTest): Promise<boolean> => {
    const outdir = mkdtempSync(join(tmpdir(), 'windlass-bench-suite-'))
    try {
      const words = [tool, job].filter((one) => one !== undefined)
      await timed([...argv('sample'), `--outdir=${outdir}`, ...words], name)
      return true
    } catch {
      return false // as it should be for some of them
    } finally {
      rmSync(outdir, { recursive: true, force: true })
    }
  }

async function timeOf(tests: readonly SuiteTest[], run: (test: SuiteTest) => Promise<boolean>) {
  const left = tests.values()
  let passed = 0
  const work = async (): Promise<void> => {
    for (const test of left) if (await run(test)) passed += 1
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { ms: performance.now() - start, passed }
}
