import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LanguageMachine, openLanguageMachine } from '../../src/app/worker/language-machine.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { describeWith } from '../../src/testing/require.ts'

const required = (process.env.WINDLASS_REQUIRE ?? '').split(',').map((name) => name.trim())
const languages = loadLanguages()
/** On a busy machine with all languages, one after the other. */
const MOST_MS = 600_000

describeWith('bwrap', 'languages in the sandbox', () => {
  let machine: LanguageMachine
  beforeAll(async () => {
    machine = await openLanguageMachine({ backend: 'sandbox', languages, rootfs: new Map(), env: {} })
    await machine.test(() => {}, new AbortController().signal)
  }, MOST_MS)
  afterAll(() => machine.close())

  test.for(languages)('$name passes its self-test, where it is installed', ({ name }, { skip, task }) => {
    const report = machine.reports().find((each) => each.name === name)
    const isRequired = required.includes(`language:${name}`)
    if (report?.outcome === 'absent' && !isRequired) {
      task.meta.skipReason = `${name}: ${report.what}`
      skip()
    }
    expect(report, report?.what).toMatchObject({ outcome: 'passed', version: expect.stringMatching(/^\d/) })
  })
})
