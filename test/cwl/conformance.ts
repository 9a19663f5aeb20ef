import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Judgement, judge, type Runner } from './judge.ts'
import { cwlHere } from './run-here.ts'
import { readSuite, type SuiteTest } from './suite.ts'

/**
 * `npm run conformance:cwl`: the conformance suite of CWL, where WINDLASS_CWL_SUITE says that it is. Prints the score by
 * tag and every test that was not passed, with its reason. Exits 0 when none failed, 1 when some did, 2 without a suite.
 */
const HELP = `npm run conformance:cwl -- [options]
  --only ID         only tests whose id has this in it; may be repeated
  --required        only those that every runner must pass
  --processes       a process for each test, by bin/cwl-runner
  --no-container    run no containers
  --index FILE      another list of tests than conformance_tests.yaml of the suite
  --parallel N      so many tests at a time (2)`

const RUNNER = fileURLToPath(new URL('../../bin/cwl-runner', import.meta.url))

const inProcess: Runner = (...words) => cwlHere('run', ...words)

const byProcess: Runner = (...words) =>
  new Promise((resolve) => {
    execFile(RUNNER, words, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ exitCode: code, stdout, stderr })
    })
  })

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      required: { type: 'boolean' },
      processes: { type: 'boolean' },
      'no-container': { type: 'boolean' },
      index: { type: 'string' },
      parallel: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const index = values.index ?? join(process.env.WINDLASS_CWL_SUITE ?? '', 'conformance_tests.yaml')
  if (!existsSync(index)) {
    console.error('WINDLASS_CWL_SUITE does not say where the suite is')
    return 2
  }
  const tests = readSuite(index).filter(
    (test) =>
      (values.only === undefined || values.only.some((part) => test.id.includes(part))) &&
      (!values.required || test.tags.includes('required')),
  )
  const extra = values['no-container'] ? ['--no-container'] : []
  const runner = values.processes ? byProcess : inProcess
  return report(await judgeAll(tests, (test) => judge(test, runner, extra), Number(values.parallel ?? 2)))
}

type Judged = readonly [SuiteTest, Judgement]

async function judgeAll(
  tests: readonly SuiteTest[],
  judging: (test: SuiteTest) => Promise<Judgement>,
  parallel: number,
): Promise<readonly Judged[]> {
  const left = tests.entries()
  const judged: Judged[] = []
  const work = async (): Promise<void> => {
    for (const [at, test] of left) judged[at] = [test, await judging(test)]
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return judged
}

function report(judged: readonly Judged[]): number {
  const count = (of: readonly Judged[], verdict: Judgement['verdict']): number =>
    of.filter(([, judgement]) => judgement.verdict === verdict).length
  const tags = [...new Set(judged.flatMap(([test]) => test.tags))].sort()
  for (const tag of tags) {
    const tagged = judged.filter(([test]) => test.tags.includes(tag))
    console.log(`${tag.padEnd(28)} ${count(tagged, 'passed')} of ${tagged.length}`)
  }
  for (const [{ id }, judgement] of judged)
    if (judgement.verdict !== 'passed') console.log(`${judgement.verdict}  ${id}: ${judgement.reason}`)
  const [passed, failed] = [count(judged, 'passed'), count(judged, 'failed')]
  console.log(`${passed} passed, ${failed} failed, ${count(judged, 'unsupported')} unsupported`)
  return failed === 0 && passed > 0 ? 0 : 1
}

process.exit(await main())
