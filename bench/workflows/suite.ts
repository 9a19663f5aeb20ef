import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge, type Runner } from '../../test/cwl/judge.ts'
import { cwlHere } from '../../test/cwl/run-here.ts'
import { readSuite, type SuiteTest } from '../../test/cwl/suite.ts'
import { type Contestant, contestants } from './contestants.ts'
import { timed } from './timed.ts'

/** Every STRIDE-th test is in the sample: cwltool takes a second or more for each. */
const STRIDE = 4
/** Tests at a time: some tests sleep for a while, and others run meanwhile. */
const AT_ONCE = 8

export interface SuiteTimes {
  readonly tests: number
  readonly passed: number
  readonly serverMs: number
  /** Undefined without cwltool. */
  readonly sample: SampleTimes | undefined
}

/** The times of the tests in the sample. */
export interface SampleTimes {
  readonly tests: number
  /** With one long-running client. */
  readonly serverMs: number
  /** With a process for each test. */
  readonly processesMs: number
  /** With a process for each test; cwltool has no other way. */
  readonly cwltoolMs: number
}

/**
 * Runs the conformance suite against a running server and checks the results. Then times a sample of it, also with
 * cwltool, without checking the results again.
 */
export async function suiteTimes(folder: string, url: string): Promise<SuiteTimes> {
  const tests = readSuite(join(folder, 'conformance_tests.yaml'))
  const runner: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=suite', ...words)
  const whole = await timeOf(tests, async (test) => (await judge(test, runner)).verdict === 'passed')
  const [ours, theirs] = ['server', 'cwltool'].map((name) => contestants(url).find((one) => one.name === name))
  const reported = { tests: tests.length, passed: whole.passed, serverMs: whole.ms }
  if (ours === undefined || theirs === undefined) return { ...reported, sample: undefined }
  const some = tests.filter(({ tool }, at) => at % STRIDE === 0 && tool !== undefined)
  const again: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=again', ...words)
  const { ms: serverMs } = await timeOf(some, async (test) => (await judge(test, again)).verdict === 'passed')
  const { ms: processesMs } = await timeOf(some, byProcess(ours))
  const { ms: cwltoolMs } = await timeOf(some, byProcess(theirs))
  return { ...reported, sample: { tests: some.length, serverMs, processesMs, cwltoolMs } }
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
      return false // expected for some of them
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
