import { expect, test } from 'vitest'
import type { Behaviour } from './behaviour.ts'
import { select } from './select.ts'

const behaviour = (id: string, level: 'must' | 'should'): Behaviour => ({
  id,
  level,
  service: 's',
  sentence: 'It is.',
  since: '2.0',
  needs: [],
})
const all = [behaviour('cas.read', 'must'), behaviour('cas.write', 'should'), behaviour('casXread', 'must')]
const ids = (selection: Parameters<typeof select>[1]) => select(all, selection).map(({ id }) => id)

test('without a selection all behaviours are selected', () => {
  expect(ids({})).toEqual(['cas.read', 'cas.write', 'casXread'])
})

test('a pattern matches the whole id, and a dot matches only a dot', () => {
  expect(ids({ only: ['cas.*'] })).toEqual(['cas.read', 'cas.write'])
  expect(ids({ only: ['cas'] })).toEqual([])
  expect(ids({ only: ['*read'] })).toEqual(['cas.read', 'casXread'])
})

test('several patterns select the union of their matches', () => {
  expect(ids({ only: ['cas.read', 'cas.write'] })).toEqual(['cas.read', 'cas.write'])
})

test('level must leaves out behaviours of level should', () => {
  expect(ids({ level: 'must' })).toEqual(['cas.read', 'casXread'])
})
