import { byService, type Result, tally } from './behaviour.ts'

/** The JUnit format that CI servers read: one suite per service, one case per behaviour. */
export function junitReport(suite: string, results: readonly Result[]): string {
  const { failed, notOffered } = tally(results)
  const head = attributes({ name: suite, tests: results.length, failures: failed, skipped: notOffered })
  const suites = [...byService(results, ({ behaviour }) => behaviour.service)].map(([service, items]) =>
    suiteOf(suite, service, items),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${head}>\n${suites.join('')}</testsuites>\n`
}

function suiteOf(suite: string, service: string, items: readonly Result[]): string {
  const { failed, notOffered } = tally(items)
  const time = seconds(items.reduce((sum, { ms }) => sum + ms, 0))
  const head = attributes({ name: service, tests: items.length, failures: failed, skipped: notOffered, time })
  const cases = items.map((result) => caseOf(`${suite}.${service}`, result))
  return `  <testsuite ${head}>\n${cases.join('')}  </testsuite>\n`
}

function caseOf(classname: string, { behaviour, outcome, ms }: Result): string {
  const head = `    <testcase ${attributes({ classname, name: behaviour.id, time: seconds(ms) })}`
  if (outcome.kind === 'passed') return `${head}/>\n`
  if (outcome.kind === 'not offered') {
    return `${head}>\n      <skipped ${attributes({ message: `not offered: ${outcome.why}` })}/>\n    </testcase>\n`
  }
  const { expected, seen } = outcome
  const message = attributes({ message: `expected ${expected}, saw ${seen}`, type: behaviour.level })
  const body = escaped(`${behaviour.sentence}\nexpected: ${expected}\nsaw: ${seen}`)
  return `${head}>\n      <failure ${message}>${body}</failure>\n    </testcase>\n`
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

const attributes = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(' ')

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Messages of a server can contain any character; XML does not allow control characters, not even escaped. */
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what has to go
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll('\n', '&#10;')
