import { expect, test } from 'vitest'
import { basenameOf, resolveUri, shortName } from './uri.ts'

test.each([
  ['file:///a/b/c.cwl', 'd.cwl', 'file:///a/b/d.cwl'],
  ['file:///a/b/c.cwl', '../d.cwl', 'file:///a/d.cwl'],
  ['file:///a/b/c.cwl', './x/../d.cwl#main', 'file:///a/b/d.cwl#main'],
  ['file:///a/b/c.cwl#main', '#other', 'file:///a/b/c.cwl#other'],
  ['file:///a/b/c.cwl', '/d/e', 'file:///d/e'],
  ['file:///a/b/c.cwl', '../../../../d', 'file:///d'],
  ['http://host/a/b', '//other/c', 'http://other/c'],
  ['http://host/a/b', 'https://else/x', 'https://else/x'],
  ['file:///a/b/c.cwl', 'item%20%231.txt', 'file:///a/b/item%20%231.txt'],
  ['file:///a/b/c.cwl', 'A:Gln2Cys', 'file:///a/b/A:Gln2Cys'],
])('from %s, the reference %s is %s', (base, reference, whole) => {
  expect(resolveUri(base, reference)).toBe(whole)
})

test('a short name is the part after the last slash of the fragment', () => {
  expect(shortName('#main/step/out')).toBe('out')
  expect(shortName('tool.cwl#in')).toBe('in')
  expect(shortName('plain')).toBe('plain')
})

test('the basename of a location is decoded, and an invalid escape is kept', () => {
  expect(basenameOf('file:///a/item%20%231.txt')).toBe('item #1.txt')
  expect(basenameOf('file:///a/dir/')).toBe('dir')
  expect(basenameOf('file:///a/100%')).toBe('100%')
})
