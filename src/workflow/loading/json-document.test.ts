/** A failure prints its seed; WINDLASS_SEED repeats that run. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keysOf, placeOf } from '../values/place.ts'
import type { Value } from '../values/value.ts'
import { readJsonDocument } from './json-document.ts'
import { readYaml } from './yaml-document.ts'

const URI = 'file:///x.cwl'
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 300, ...(seed === undefined ? {} : { seed: Number(seed) }) })

/** A value with the positions of all its nodes and keys. */
function mapped(value: Value): unknown {
  if (typeof value !== 'object' || value === null) return value
  const keys = keysOf(value)
  const inside = keys.map((key) => [key, placeOf(value, key), mapped((value as Record<string, Value>)[key] as Value)])
  return [Array.isArray(value), placeOf(value), inside]
}

const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const word = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', '10', '2', 'a"b\\', 'é\n'),
)
const { document } = fc.letrec<{ document: unknown; any: unknown }>((tie) => ({
  any: fc.oneof({ maxDepth: 5, withCrossShrink: true }, word, number, fc.boolean(), fc.constant(null), tie('document')),
  document: fc.oneof(fc.array(tie('any'), { maxLength: 5 }), fc.dictionary(word, tie('any'), { maxKeys: 5 })),
}))

test('a JSON document is read as the YAML reader reads it, with equal positions', () => {
  fc.assert(
    fc.property(document, fc.constantFrom(0, 1, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      fc.pre(!text.includes('"<<"'))
      expect(mapped(readJsonDocument(text, URI) as Value)).toEqual(mapped(readYaml(text, URI)))
    }),
  )
})

test.each([
  ['YAML', 'a: 1'],
  ['YAML in brackets', '{a: 1}'],
  ['a plain word', '"word"'],
  ['nothing', ''],
  ['a comment', '{"a": 1} # why'],
  ['more than one', '{} {}'],
  ['a comma too many', '[1,]'],
  ['a key that is there twice', '{"a": 1, "a": 2}'],
  ['a merge key', '{"<<": {"a": 1}}'],
  ['a number that is none', '[01]'],
  ['infinity', '[1e999]'],
  ['a line in a string', '["a\nb"]'],
  ['a string without an end', '["a'],
  ['a string that ends in a backslash', '["a\\"]'],
  ['a record without an end', '{"a": 1'],
  ['an escape that JSON does not know', '["\\x41"]'],
  ['what is too much', `[${'0,'.repeat(600_000)}0]`],
  ['what is too deep', '['.repeat(300) + ']'.repeat(300)],
])('%s is left to the YAML reader', (_, text) => {
  expect(readJsonDocument(text, URI)).toBeUndefined()
})

test('a document of 50,000 strings on one line is read', () => {
  const words = Array.from({ length: 50_000 }, (_, at) => `"\\"${at}\\\\"`)
  const list = readJsonDocument(`[${words.join(',')}]`, URI) as string[]
  expect(list).toHaveLength(50_000)
  expect(list[7]).toBe('"7\\')
  expect(placeOf(list, 1)).toEqual({ uri: URI, line: 1, column: 10 })
})
