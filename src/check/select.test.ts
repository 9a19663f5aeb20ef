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

test('without a selection all are taken', () => {
  expect(ids({})).toEqual(['cas.read', 'cas.write', 'casXread'])
})

test('a pattern is for the whole id, and a dot is a dot', () => {
  expect(ids({ only: ['cas.*'] })).toEqual(['cas.read', 'cas.write'])
  expect(ids({ only: ['cas'] })).toEqual([])
  expect(ids({ only: ['*read'] })).toEqual(['cas.read', 'casXread'])
})

test('several patterns add up', () => {
  expect(ids({ only: ['cas.read', 'cas.write'] })).toEqual(['cas.read', 'cas.write'])
})

test('must leaves out what a server only should do', () => {
  expect(ids({ level: 'must' })).toEqual(['cas.read', 'casXread'])
})
