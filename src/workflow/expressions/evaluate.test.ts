// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expressions of CWL
import { beforeAll, describe, expect, test } from 'vitest'
import { numberText } from '../values/value-text.ts'
import { type Evaluator, evaluate, evaluateAsIs } from './evaluate.ts'
import type { Expressions } from './expressions.ts'
import { quickJsExpressions } from './quickjs.ts'

const clock = { monotonic: () => performance.now() }
const refusing: Expressions = {
  run: () => {
    throw new Error('no JavaScript was needed')
  },
}
const plain: Evaluator = { expressions: refusing, escapes: 'since-v1.2', library: undefined }
const context = {
  inputs: { a: { 'b c': [1, { d: 'deep' }], "q'q": 'quote' }, n: null, list: [1, 2, 3], f: 1.5 },
  self: 'me',
  runtime: { cores: 2 },
}

describe('parameter references', () => {
  test.each([
    ['$(inputs.a["b c"][1].d)', 'deep'],
    ["$(inputs['a']['b c'][0])", 1],
    ["$(inputs.a['q\\'q'])", 'quote'],
    ['$(inputs.list.length)', 3],
    ['$(inputs.n)', null],
    ['$(null)', null],
    ['$(self)', 'me'],
    ['  $(runtime.cores)\n', 2],
    ['x$(self)y$(runtime.cores)', 'xmey2'],
    ['$(inputs.list) and $(inputs.a)', `[1, 2, 3] and {"b c": [1, {"d": "deep"}], "q'q": "quote"}`],
    ['no expression \\\\ here ', 'no expression \\\\ here '],
  ])('%j evaluates to %j without JavaScript', async (source, value) => {
    expect(await evaluate(source, context, plain)).toEqual(value)
  })

  test.each([
    '$(inputs.nope)',
    '$(inputs.n.x)',
    '$(other)',
    '$(inputs.f.length)',
    '$(inputs.constructor)',
    '$(null.x)',
  ])('%s cannot be looked up', async (source) => {
    await expect(evaluate(source, context, plain)).rejects.toThrow(/cannot be looked up/)
  })

  test.each(['$(1 + 1)', '${return 1}', '$(inputs.list.map(x => x))'])(
    '%s needs InlineJavascriptRequirement',
    async (source) => {
      await expect(evaluate(source, context, plain)).rejects.toThrow(/InlineJavascriptRequirement is not there/)
    },
  )
})

describe('escapes', () => {
  test.each([
    ['\\$(self)', '$(self)'],
    ['\\${self}', '${self}'],
    ['\\\\$(self)', '\\me'],
    ['\\\\\\$(self)', '\\$(self)'],
    ['$(self) \\$ \\n \\\\', 'me \\$ \\n \\'],
  ])('since v1.2 %j is %j', async (source, value) => {
    expect(await evaluateAsIs(source, context, plain)).toBe(value)
  })

  test('before v1.2 a backslash escaped any character', async () => {
    const old: Evaluator = { ...plain, escapes: 'before-v1.2' }
    expect(await evaluateAsIs('\\$(self) \\n $(self)', context, old)).toBe('$(self) n me')
  })
})

test('evaluateAsIs keeps white space and returns text', async () => {
  expect(await evaluateAsIs('$(inputs.list)\n', context, plain)).toBe('[1, 2, 3]\n')
})

test.each([
  [1e-7, '0.0000001'],
  [1.23e-9, '0.00000000123'],
  [1e21, '1000000000000000000000'],
  [-1.5e22, '-15000000000000000000000'],
  [0.1, '0.1'],
  [42, '42'],
])('%d is written as %s', (value, words) => {
  expect(numberText(value)).toBe(words)
})

describe('JavaScript', () => {
  let evaluator: Evaluator
  const limits = { memoryBytes: 16 << 20, stackBytes: 128 << 10, timeMs: 200 }
  beforeAll(() => {
    evaluator = { ...plain, expressions: quickJsExpressions(clock, limits), library: [] }
  })
  const run = (source: string, library: readonly string[] = []) => evaluate(source, context, { ...evaluator, library })

  test.each([
    ['$(1 + inputs.list[2])', 4],
    ['${ var s = 0; for (var x of inputs.list) s += x; return {sum: s} }', { sum: 6 }],
    ['$(inputs.nope)', null],
    ['$({a: undefined, b: [undefined]})', { b: [null] }],
    ['$("a)b}" + \'(\')', 'a)b}('],
    ['$(self) is $(self.length)', 'me is 2'],
  ])('%s evaluates to %j', async (source, value) => {
    expect(await run(source)).toEqual(value)
  })

  test('expression libraries run first, in order', async () => {
    expect(await run('$(twice(base))', ['var base = 21', 'function twice(x) { return 2 * x }'])).toBe(42)
  })

  test('an expression leaves no global state for the next one', async () => {
    await run('${ globalThis.leak = 1; Array.prototype.map = null; return 1 }')
    expect(await run('$([typeof leak, typeof [].map])')).toEqual(['undefined', 'function'])
  })

  test('process, require, fetch, setTimeout and console are undefined', async () => {
    expect(await run('$([typeof process, typeof require, typeof fetch, typeof setTimeout, typeof console])')).toEqual(
      Array(5).fill('undefined'),
    )
  })

  test.each([
    ['${ while (true) {} }', /ran for more than 200 ms/],
    ['${ var a = "x"; while (true) a += a; }', /out of memory|string too long|ran for more/],
    ['${ function f() { return f() + 1 } return f() }', /stack overflow/],
    ['$(nope)', /ReferenceError/],
    ['$(1 +)', /failed: SyntaxError/],
    ['a $(open', /is not closed/],
    ['${ throw new Error("mine") }', /Error: mine/],
    ['$(function () {})', /gives a function/],
  ])('%s fails with its reason', async (source, words) => {
    await expect(run(source)).rejects.toThrow(words)
  })

  test('after a stack overflow the next expression works', async () => {
    await expect(run('${ function f() { return f() + 1 } return f() }')).rejects.toThrow()
    expect(await run('$(40 + 2)')).toBe(42)
  })
})
