import { expect, test } from 'vitest'
import { GrpcError, STATUS } from '../grpc/status.ts'
import { manualClock } from '../testing/manual-clock.ts'
import type { Behaviour } from './behaviour.ts'
import { runSuite } from './run-suite.ts'
import { NotOffered, Unmet } from './unmet.ts'

const behaviour = (id: string): Behaviour => ({
  id,
  service: 's',
  sentence: 'It is.',
  level: 'must',
  since: '2.0',
  needs: [],
})

function run(checks: Record<string, (signal: AbortSignal) => Promise<void>>, atOnce = 4) {
  const clock = manualClock()
  const results = runSuite<AbortSignal>({
    behaviours: Object.keys(checks).map(behaviour),
    unoffered: ({ id }) => (id === 'unoffered' ? 'needs more' : undefined),
    checkOf: (id) => checks[id] ?? (async () => {}),
    probeFor: (_, signal) => signal,
    clock,
    deadlineMs: 5_000,
    atOnce,
  })
  return { clock, results }
}

const fails = (error: unknown) => async () => {
  throw error
}

test('the error that a check throws determines its outcome', async () => {
  const { results } = run({
    good: async () => {},
    unmet: fails(new Unmet('this', 'that')),
    dynamic: fails(new NotOffered('needs luck')),
    unoffered: fails(new Error('never run')),
    status: fails(new GrpcError(STATUS.internal, 'oops')),
  })
  expect((await results).map(({ outcome }) => outcome)).toEqual([
    { kind: 'passed' },
    { kind: 'failed', expected: 'this', seen: 'that' },
    { kind: 'not offered', why: 'needs luck' },
    { kind: 'not offered', why: 'needs more' },
    { kind: 'failed', expected: 'every call to succeed', seen: 'INTERNAL: oops' },
  ])
})

test('an internal error of a check is reported with its type', async () => {
  const [result] = await run({ bug: fails(new TypeError('undefined is not')) }).results
  expect(result?.outcome).toMatchObject({
    kind: 'failed',
    seen: expect.stringContaining('TypeError: undefined is not'),
  })
})

test('a check that hangs fails at its deadline of 5 s, and its signal is aborted', async () => {
  let signal: AbortSignal | undefined
  const { clock, results } = run({
    hangs: (given) => {
      signal = given
      return new Promise(() => {})
    },
  })
  await Promise.resolve()
  clock.advance(5_000)
  expect((await results)[0]?.outcome).toEqual({ kind: 'failed', expected: 'an answer', seen: 'no answer within 5 s' })
  expect(signal?.aborted).toBe(true)
})

test('at most atOnce checks run concurrently, and results keep their order', async () => {
  let running = 0
  let most = 0
  const busy = async () => {
    most = Math.max(most, ++running)
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    running--
  }
  const { results } = run({ a: busy, b: busy, c: busy, d: busy, e: busy }, 2)
  expect((await results).map((each) => each.behaviour.id)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(most).toBe(2)
})
