import { expect, test } from 'vitest'
import { keysOf, placeOf } from '../values/place.ts'
import { readYaml } from './yaml-document.ts'

const URI = 'file:///x.cwl'

test('values are plain objects, and their positions are known by line and column', () => {
  const value = readYaml('a:\n  - b\n  - {c: 1}\n', URI) as { a: [string, { c: number }] }
  expect(value).toEqual({ a: ['b', { c: 1 }] })
  expect(placeOf(value, 'a')).toEqual({ uri: URI, line: 1, column: 1 })
  expect(placeOf(value.a, 1)).toEqual({ uri: URI, line: 3, column: 5 })
  expect(placeOf(value.a[1], 'c')).toEqual({ uri: URI, line: 3, column: 6 })
})

test('YAML 1.1 words such as yes, and dates, stay strings', () => {
  expect(readYaml('[yes, no, on, 2001-12-14, 0o14]', URI)).toEqual(['yes', 'no', 'on', '2001-12-14', 12])
})

test('keys that look like numbers keep their order', () => {
  const value = readYaml('b: 1\n10: 2\n2: 3\n', URI)
  expect(keysOf(value as object)).toEqual(['b', '10', '2'])
})

test('the key __proto__ is an ordinary key', () => {
  const value = readYaml('{"__proto__": {"polluted": true}}', URI) as Record<string, unknown>
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('merge keys and anchors are resolved', () => {
  expect(readYaml('base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n', URI)).toEqual({
    base: { x: 1, y: 2 },
    use: { x: 1, y: 3 },
  })
})

test('aliases that expand without bound are refused', () => {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (let level = 0; level < 9; level += 1) {
    const [from, to] = [String.fromCharCode(97 + level), String.fromCharCode(98 + level)]
    lines.push(`${to}: &${to} [${Array(10).fill(`*${from}`).join(', ')}]`)
  }
  expect(() => readYaml(lines.join('\n'), URI)).toThrow(/too large once its aliases are followed/)
})

test('text that is not YAML is refused, with its line and column', () => {
  expect(() => readYaml('a: [1, 2\nb: 3', URI)).toThrow(/^file:\/\/\/x.cwl:\d+:\d+: this is not valid YAML/)
})

test('a flow list may be indented less than YAML requires', () => {
  const text = ['- doc: |', '    a [ b', '  list: [1, "]", # a ] b', "  '2', {", '  x: 3}]', '- next: [', ']'].join(
    '\n',
  )
  expect(readYaml(text, URI)).toEqual([{ doc: 'a [ b\n', list: [1, ']', '2', { x: 3 }] }, { next: [] }])
})
