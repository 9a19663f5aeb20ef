import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

/**
 * Prints after a run which tests were skipped and why, then the counts in one line. A file that cannot be loaded counts
 * as a failure. WINDLASS_TEST_COUNTS names a file that gets the same three numbers, for the script that runs all
 * checks, followed by the failures, one per line.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const skipped = tests.filter((test) => test.result().state === 'skipped')
    const broken = modules.flatMap((module) => module.errors()).length + suiteErrors(modules) + unhandled.length
    const failing = tests.filter((test) => test.result().state === 'failed')
    const failed = broken + failing.length
    const passed = tests.filter((test) => test.result().state === 'passed').length
    for (const [reason, names] of byReason(skipped)) {
      console.log(`skipped: ${reason}\n${names.map((name) => `  ${name}`).join('\n')}`)
    }
    console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`)
    const file = process.env.WINDLASS_TEST_COUNTS
    if (file === undefined) return
    const lines = [
      `${passed} ${failed} ${skipped.length}`,
      ...failing.map(inOneLine),
      ...errorsAround(modules, unhandled),
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
  }
}

const suiteErrors = (modules: readonly TestModule[]): number =>
  modules.flatMap((module) => [...module.children.allSuites()]).flatMap((suite) => suite.errors()).length

const inOneLine = (test: TestCase): string =>
  `${test.module.relativeModuleId} > ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message)}`

/** Errors outside any test. */
const errorsAround = (modules: readonly TestModule[], unhandled: readonly SerializedError[]): string[] => [
  ...modules.flatMap((module) =>
    [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())].map(
      ({ message }) => `${module.relativeModuleId}: ${firstLine(message)}`,
    ),
  ),
  ...unhandled.map(({ message }) => `outside of any test: ${firstLine(message)}`),
]

const firstLine = (message = ''): string => message.split('\n', 1)[0]?.slice(0, 300) ?? ''

function byReason(skipped: readonly TestCase[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const test of skipped) {
    const reason = reasonOf(test)
    const name = `${test.module.relativeModuleId} > ${test.fullName}`
    groups.set(reason, [...(groups.get(reason) ?? []), name])
  }
  return groups
}

/** The reason from the test itself, or from its suite. */
function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'skipped' && result.note !== undefined) return result.note
  let around: TestCase | TestCase['parent'] = test
  while (around.type !== 'module') {
    const { skipReason } = around.meta()
    if (skipReason !== undefined) return skipReason
    around = around.parent
    if (around.errors().length > 0) return 'what should have prepared it failed'
  }
  return 'no reason given'
}
