import { expect, test } from 'vitest'
import { judgementsIn } from './cwltest.ts'

test('the JUnit report of cwltest is read in the order of its tests', () => {
  const report = `<testsuite tests="4">
    <testcase name="a &gt; b" file="one"><system-out>{"failure": 1}</system-out></testcase>
    <testcase name="b"><failure type="failure">it returned 1</failure><system-err>no &quot;x&quot;
</system-err></testcase>
    <testcase name="c"><skipped type="skipped" message="Unsupported"/></testcase>
    <testcase name="d" time="0.1"/>
  </testsuite>`
  expect(judgementsIn(report)).toEqual([
    { verdict: 'passed' },
    { verdict: 'failed', reason: 'no "x"' },
    { verdict: 'unsupported', reason: 'unsupported' },
    { verdict: 'passed' },
  ])
})
