import { afterEach, expect, test, vi } from 'vitest'
import type { ExpressionPool } from '../../workflow/expressions/expression-pool.ts'
import type { Script } from '../../workflow/expressions/expressions.ts'
import { openExpressions } from './expressions.ts'

vi.setConfig({ testTimeout: 120_000 }) // on a busy machine these threads get little time

const LIMITS = { expressionMs: 300, submissionMs: 10_000, valueBytes: 1 << 20 }
const pools: ExpressionPool[] = []
const pool = (limits: Partial<typeof LIMITS> = {}): ExpressionPool => {
  const opened = openExpressions({ ...LIMITS, ...limits })
  pools.push(opened)
  return opened
}
afterEach(async () => {
  for (const one of pools.splice(0)) await one.close()
})

const body = (code: string): Script => ({
  ...{ code, isBody: true, library: [] },
  context: { inputs: { n: 20 }, self: null, runtime: {} },
})
const FOREVER = body('while (true) {}')
/** One call of a QuickJS built-in, which checks no clock while it runs. */
const DEAF = body('return Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1)')
const of = (
  opened: ExpressionPool,
  submission: string,
  { instance = '', signal = new AbortController().signal } = {},
) => opened.expressionsOf({ instance, submission }, signal)

test('an expression sees its context, and fails with a reason', async () => {
  const expressions = of(pool(), 'one')
  expect(await expressions.run(body('return { twice: 2 * inputs.n }'))).toEqual({ twice: 40 })
  await expect(expressions.run(body('throw new Error("mine")'))).rejects.toThrow(/failed: Error: mine/)
  expect(await expressions.run(body('return 1'))).toBe(1)
})

test.each([
  ['a loop', FOREVER],
  ['a call that cannot be interrupted', DEAF],
])('%s ends at expressionMs, and the next expression runs', async (_, script) => {
  const expressions = of(pool(), 'one')
  await expect(expressions.run(script)).rejects.toThrow(/ran for more than 300 ms/)
  expect(await expressions.run(body('return 1'))).toBe(1)
})

test('an expression that needs more than one time slice completes', async () => {
  const busy = body('var n = 0; for (var i = 0; i < 1.2e7; i++) n += i % 7; return n > 0')
  expect(await of(pool({ expressionMs: 60_000, submissionMs: 120_000 }), 'one').run(busy)).toBe(true)
})

test('a submission above submissionMs gets no further time, and others do', async () => {
  const opened = pool({ submissionMs: 400 })
  const hostile = of(opened, 'hostile')
  await expect(hostile.run(FOREVER)).rejects.toThrow(/more than 0.4 s of processor time.*max_submission_expression/)
  await expect(hostile.run(body('return 1'))).rejects.toThrow(/more than 0.4 s/)
  expect(await of(opened, 'other').run(body('return 1'))).toBe(1)
})

test('expressions whose caller aborted are stopped', async () => {
  const opened = pool({ expressionMs: 600_000, submissionMs: 600_000 })
  const leave = new AbortController()
  const hostile = of(opened, 'hostile', { signal: leave.signal })
  const ends = [hostile.run(DEAF), hostile.run(FOREVER)].map((one) => expect(one).rejects.toThrow(/was cancelled/))
  expect(await of(opened, 'other').run(body('return 1'))).toBe(1)
  leave.abort()
  await Promise.all(ends)
  await expect(hostile.run(body('return 1'))).rejects.toThrow(/was cancelled/)
})

test('a value above valueBytes is refused', async () => {
  const expressions = of(pool(), 'one')
  await expect(expressions.run(body('return "x".repeat(2 << 20)'))).rejects.toThrow(/more than 1048576 bytes of JSON/)
})

test.each([
  ['of another instance', 'good'],
  ['of the same instance', 'bad'],
])('submissions %s continue while ten hostile ones run', async (_, instance) => {
  const opened = pool({ expressionMs: 600_000, submissionMs: 600_000 })
  const leave = new AbortController()
  const ends = Array.from({ length: 10 }, (__, at) =>
    of(opened, `hostile ${at}`, { instance: 'bad', signal: leave.signal })
      .run(at % 2 === 0 ? FOREVER : DEAF)
      .catch(() => {}),
  )
  const honest = of(opened, 'honest', { instance })
  for (let n = 0; n < 50; n += 1) expect(await honest.run(body(`return ${n}`))).toBe(n)
  leave.abort()
  await Promise.all(ends)
})
