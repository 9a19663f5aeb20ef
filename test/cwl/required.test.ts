import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judge } from './judge.ts'
import { cwlHere } from './run-here.ts'
import { readSuite } from './suite.ts'

/** The conformance suite is not part of the project: where it is available, its required tests are run. */
const suite = process.env.WINDLASS_CWL_SUITE
const NEEDS_CONTAINER = ['cwloutput_nolimit']

const skipping = {
  skip: suite === undefined,
  meta: { skipReason: 'WINDLASS_CWL_SUITE does not say where the suite is' },
}

describe('the required tests of the CWL suite', skipping, () => {
  const all = suite === undefined ? [] : readSuite(join(suite, 'conformance_tests.yaml'))
  const required = all.filter(({ tags }) => tags.includes('required'))

  test('are 84 or more, in a suite of 378 or more', () => {
    expect(all.length).toBeGreaterThanOrEqual(378)
    expect(required.length).toBeGreaterThanOrEqual(84)
  })

  test.each(required.filter(({ id }) => !NEEDS_CONTAINER.includes(id)))('$id', async (one) => {
    const judgement = await judge(one, (...words) => cwlHere('run', ...words), ['--no-container'])
    expect(judgement, one.doc).toEqual({ verdict: 'passed' })
  })
})
