import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { leaveNothing } from '../../src/testing/leave-nothing.ts'
import { startWorkflowServer } from '../submissions/workflow-server.ts'
import { hasCwltest, judgedByCwltest } from './cwltest.ts'
import { type Judgement, judge, type Runner } from './judge.ts'
import { cwlHere } from './run-here.ts'
import { readSuite, type SuiteTest } from './suite.ts'

/**
 * `npm run conformance:cwl`: the CWL conformance suite in the directory WINDLASS_CWL_SUITE. Prints the score by tag and
 * every test that did not pass, with the reason. Exits 0 when no test failed, 1 when some did, 2 without a suite.
 */
const HELP = `npm run conformance:cwl -- [options]
  --only ID         only tests whose id has this in it; may be repeated
  --required        only those that every runner must pass
  --processes       a process for each test, by bin/cwl-runner
  --no-container    run no containers
  --index FILE      another list of tests than conformance_tests.yaml of the suite
  --parallel N      so many tests at a time (2)
  --server          by way of a server with two workers, which are started for it
  --server-url URL  by way of a server that is there already
  --own-judge       judge by ourselves, though cwltest is installed
With cwltest on the PATH each test is a process, and it judges; else we do, in this process, by the same rules.`

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
      server: { type: 'boolean' },
      'server-url': { type: 'string' },
      'own-judge': { type: 'boolean' },
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
  const server = values.server ? await startWorkflowServer() : undefined
  try {
    const url = server?.url ?? values['server-url']
    const extra = [
      ...(values['no-container'] ? ['--no-container'] : []),
      ...(url === undefined ? [] : ['--server', url]),
    ]
    const parallel = Number(values.parallel ?? 2)
    const started = performance.now()
    const judged =
      hasCwltest() && !values['own-judge']
        ? await judgeByCwltest(tests, { index, isAll: values.only === undefined && !values.required, extra, parallel })
        : await judgeAll(tests, (test) => judge(test, values.processes ? byProcess : inProcess, extra), parallel)
    console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`)
    return report(judged)
  } finally {
    await server?.stop()
  }
}

type Judged = readonly [SuiteTest, Judgement]

interface Cwltest {
  readonly index: string
  readonly isAll: boolean
  readonly extra: readonly string[]
  readonly parallel: number
}

async function judgeByCwltest(tests: readonly SuiteTest[], { isAll, ...order }: Cwltest): Promise<readonly Judged[]> {
  const ids = isAll ? undefined : tests.map(({ id }) => id)
  const reported = await judgedByCwltest({ ...order, runner: RUNNER, ids })
  if (reported.length !== tests.length)
    throw new Error(`cwltest has judged ${reported.length} tests of ${tests.length}`)
  return tests.map((test, at): Judged => [test, reported[at] ?? { verdict: 'failed', reason: 'it was not run' }])
}

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

leaveNothing()
process.exit(await main())
