import { expect, test, vi } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { Language } from '../../model/language.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { languageProperties } from './language-report.ts'
import { offeredLanguages } from './offered-languages.ts'
import type { SelfTestResult } from './self-test-results.ts'
import type { LanguageTrial } from './test-language.ts'
import { ended, toy, workingToolchain } from './toolchain.fixture.ts'

const never = new AbortController().signal

type Known = Record<string, SelfTestResult>

function offering(languages: readonly Language[], run: LanguageTrial['run'], known: Known = {}) {
  const clock = manualClock()
  const noted = new Map(Object.entries(known))
  const offered = offeredLanguages({
    languages,
    trial: { run, clock, isolation: 'namespaces' },
    results: {
      recall: (key) => noted.get(key),
      remember: (_, key, result) => void noted.set(key, result),
    },
    markOf: ({ name }) => (name === 'absent' ? { absent: 'it is nowhere' } : { key: `key of ${name}` }),
    clock,
  })
  return { offered, noted, clock }
}

test('a language known to pass is offered at once, an absent one never, and a new one after its self-test passes', async () => {
  const asked: string[] = []
  const { offered, noted } = offering(
    [toy('known'), toy('absent'), toy('fresh')],
    (task) => {
      asked.push(`${task.platform[0]?.value} ${task.stages[0]?.name}`)
      return workingToolchain(task)
    },
    { 'key of known': { outcome: 'passed', version: '7' } },
  )
  expect(languageProperties(offered.reports())).toEqual([{ name: 'language', value: 'known,known@7' }])
  expect(offered.testing()).toEqual(['fresh'])
  let more = 0
  await offered.test(() => more++, never)
  expect(languageProperties(offered.reports())).toEqual([{ name: 'language', value: 'known,known@7,fresh,fresh@1.2' }])
  expect([asked, more, offered.testing()]).toEqual([['fresh version', 'fresh run'], 1, []])
  expect(noted.get('key of fresh')).toEqual({ outcome: 'passed', version: '1.2' })
  expect(offered.reports()[1]).toMatchObject({ outcome: 'absent', what: 'it is nowhere' })
  await offered.test(() => more++, never)
  expect(more).toBe(1)
})

const FAILURES = {
  'prints something else': {
    result: ended({ says: 'Hello\n' }),
    report: { outcome: 'failed', what: String.raw`it printed "Hello\n" in place of "Hello, you\n"` },
  },
  'exits with 3': {
    result: ended({ cause: 'exit', exitCode: 3 }),
    report: { outcome: 'failed', what: 'run: exit code 3' },
  },
  'lacks a program': {
    result: ended({ cause: 'not-started', reason: 'no ld' }),
    report: { outcome: 'absent', what: 'run: no ld' },
  },
  'takes too long': {
    result: ended({ cause: 'timeout', reason: 'too long' }),
    report: { outcome: 'failed', what: 'run: too long' },
  },
  'runs nothing': { result: { ...ended({}), stages: [] }, report: { outcome: 'failed', what: 'nothing was run' } },
}

test.each(Object.entries(FAILURES))(
  'a language whose self-test %s is not offered, and its result is stored',
  async (_, { result, report }) => {
    const { offered, noted } = offering([toy('bad')], async (task) =>
      task.stages[0]?.name === 'version' ? workingToolchain(task) : result,
    )
    let changes = 0
    await offered.test(() => changes++, never)
    expect(offered.reports()).toMatchObject([{ ...report, version: '1.2' }])
    expect(languageProperties(offered.reports())).toEqual([])
    expect([offered.testing(), changes, noted.get('key of bad')]).toEqual([[], 1, report])
  },
)

test('a language whose version output has no version, or an invalid one, is not offered', async () => {
  for (const says of ['toy', 'version a,b', `version ${'9'.repeat(80)}`]) {
    const { offered } = offering([toy('odd')], async () => ended({ says }))
    await offered.test(() => {}, never)
    expect(offered.reports()).toMatchObject([{ outcome: 'failed', what: expect.stringContaining('version') }])
  }
})

test('a language that failed at an earlier start is not waited for, and is tested again in the background', async () => {
  const known: Known = { 'key of flaky': { outcome: 'failed', what: 'too slow' } }
  const { offered, noted } = offering([toy('flaky')], workingToolchain, known)
  expect(offered.testing()).toEqual([])
  expect(offered.reports()).toMatchObject([{ name: 'flaky', outcome: 'failed', what: 'too slow' }])
  let changes = 0
  await offered.test(() => changes++, never)
  expect(languageProperties(offered.reports())).toEqual([{ name: 'language', value: 'flaky,flaky@1.2' }])
  expect([changes, noted.get('key of flaky')]).toEqual([1, { outcome: 'passed', version: '1.2' }])
})

test('a failure to create a room is reported for its language, and the other languages are tested', async () => {
  const { offered } = offering([toy('one'), toy('two')], async (task) => {
    if (task.platform[0]?.value === 'one') throw new FaultError({ kind: 'unavailable', what: 'no room' })
    return workingToolchain(task)
  })
  await offered.test(() => {}, never)
  expect(offered.reports()).toMatchObject([{ outcome: 'failed', what: 'no room' }, { outcome: 'passed' }])
})

test('at most two languages are tested at once, quick ones first, and changes are reported in batches', async () => {
  let [running, most] = [0, 0]
  const order: string[] = []
  const slow = toy('slow', { compile: { argv: ['x'], env: {}, limits: { wallMs: 9 } } })
  const { offered, clock } = offering([slow, toy('a'), toy('b'), toy('c'), toy('d')], async (task: CommandTask) => {
    most = Math.max(most, ++running)
    order.push(task.platform[0]?.value ?? '')
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(300)
    running--
    return workingToolchain(task)
  })
  const told: number[] = []
  await offered.test(() => told.push(offered.reports().length), never)
  expect([most, order.at(-1), told.at(-1)]).toEqual([2, 'slow', 5])
  expect(told.length).toBe(2)
})

test('a language that passed is reported within 2 s, while a slow one is still under test', async () => {
  const slowEnd = Promise.withResolvers<void>()
  const { offered, clock } = offering([toy('slow'), toy('bad'), toy('quick')], async (task) => {
    const name = task.platform[0]?.value
    if (name === 'slow') await slowEnd.promise
    if (name === 'bad' && task.stages[0]?.name !== 'version') return ended({ cause: 'exit', exitCode: 3 })
    return workingToolchain(task)
  })
  const told: string[] = []
  const tested = offered.test(() => told.push(offered.testing().join()), never)
  await vi.waitFor(() => expect(offered.testing()).toEqual(['slow']))
  expect(told).toEqual([])
  clock.advance(2000)
  expect(told).toEqual(['slow'])
  clock.advance(60_000)
  slowEnd.resolve()
  await tested
  expect(told).toEqual(['slow', ''])
})

test('a stopped test run reports nothing about untested languages', async () => {
  const stopping = new AbortController()
  const { offered } = offering([toy('a'), toy('b'), toy('c')], async () => {
    stopping.abort()
    throw new FaultError({ kind: 'cancelled', what: 'stopped' })
  })
  await offered.test(() => expect.unreachable(), stopping.signal)
  expect(offered.reports()).toEqual([])
})
