import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge, type Runner } from '../../test/cwl/judge.ts'
import { cwlHere } from '../../test/cwl/run-here.ts'
import { readSuite, type SuiteTest } from '../../test/cwl/suite.ts'
import { timed } from './timed.ts'

/** Every so manieth test stands for all: cwltool takes two seconds and more for each. */
const STRIDE = 12
const AT_ONCE = 2

export interface SuiteTimes {
  readonly tests: number
  readonly passed: number
  readonly serverMs: number
  /** Of the tests that both were given; undefined without cwltool. */
  readonly sample: { readonly tests: number; readonly serverMs: number; readonly cwltoolMs: number } | undefined
}

/** The conformance suite against a server that is there, and a sample of it by cwltool, a process for each test. */
export async function suiteTimes(folder: string, url: string, hasCwltool: boolean): Promise<SuiteTimes> {
  const tests = readSuite(join(folder, 'conformance_tests.yaml'))
  const runner: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=suite', ...words)
  const whole = await timeOf(tests, async (test) => (await judge(test, runner)).verdict === 'passed')
  if (!hasCwltool) return { tests: tests.length, passed: whole.passed, serverMs: whole.ms, sample: undefined }
  const some = tests.filter(({ tool }, at) => at % STRIDE === 0 && tool !== undefined)
  const again: Runner = (...words) => cwlHere('run', `--server=${url}`, '--instance=sample', ...words)
  const ours = await timeOf(some, async (test) => (await judge(test, again)).verdict === 'passed')
  const theirs = await timeOf(some, byCwltool)
  const sample = { tests: some.length, serverMs: ours.ms, cwltoolMs: theirs.ms }
  return { tests: tests.length, passed: whole.passed, serverMs: whole.ms, sample }
}

async function byCwltool({ tool, job }: SuiteTest): Promise<boolean> {
  const outdir = mkdtempSync(join(tmpdir(), 'windlass-bench-suite-'))
  try {
    const words = [tool, job].filter((one) => one !== undefined)
    await timed(['cwltool', '--no-container', '--quiet', `--outdir=${outdir}`, ...words], 'cwltool')
    return true
  } catch {
    return false // as it should be for some of them; only the time counts here
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
