import { describe, expect, test } from 'vitest'
import type { CheckOutcome, Result } from './behaviour.ts'
import { jsonReport } from './report-json.ts'
import { junitReport } from './report-junit.ts'
import { textReport } from './report-text.ts'

const result = (service: string, id: string, outcome: CheckOutcome): Result => ({
  behaviour: { id, service, sentence: 'Blobs come back.', level: 'must', since: '2.0', needs: [], note: 'Think.' },
  outcome,
  ms: 12,
})
const RESULTS = [
  result('CAS', 'cas.a', { kind: 'passed' }),
  result('CAS', 'cas.b', { kind: 'failed', expected: '"yes" & more', seen: 'no <none>\u0007' }),
  result('Read', 'read.c', { kind: 'not offered', why: 'needs zstd' }),
]

test('the text report has a line per service, and the expected and seen values of each failure', () => {
  expect(textReport(RESULTS, { colours: false })).toBe(`  service  passed  failed  not offered
  CAS           1       1            0
  Read          0       0            1
  all           1       1            1

  ✗ cas.b (must)
      Blobs come back.
      expected "yes" & more
      saw      no <none>\u0007
      note     Think.
`)
})

test('the text report has colours only on request', () => {
  expect(textReport(RESULTS, { colours: true })).toContain('\u001b[31m✗\u001b[0m')
  expect(textReport(RESULTS, { colours: false })).not.toContain('\u001b')
})

describe('JUnit report', () => {
  const xml = junitReport('reapi', RESULTS)

  test('counts failed behaviours, and behaviours that are not offered as skipped', () => {
    expect(xml).toContain('<testsuites name="reapi" tests="3" failures="1" skipped="1">')
    expect(xml).toContain('<testsuite name="CAS" tests="2" failures="1" skipped="0" time="0.024">')
    expect(xml).toContain('<skipped message="not offered: needs zstd"/>')
    expect(xml).toContain('<testcase classname="reapi.CAS" name="cas.a" time="0.012"/>')
  })

  test('escapes the text of a server for XML', () => {
    expect(xml).toContain('message="expected &quot;yes&quot; &amp; more, saw no &lt;none&gt;\ufffd" type="must"')
  })
})

test('the JSON report has the summary and all results', () => {
  expect(JSON.parse(jsonReport({ target: 't' }, RESULTS))).toMatchObject({
    target: 't',
    summary: { passed: 1, failed: 1, notOffered: 1 },
    results: [
      { id: 'cas.a', outcome: 'passed' },
      { id: 'cas.b', outcome: 'failed', expected: '"yes" & more' },
      { id: 'read.c', outcome: 'not offered', why: 'needs zstd' },
    ],
  })
})
