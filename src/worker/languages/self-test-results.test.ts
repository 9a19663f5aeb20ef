import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type SelfTestResult, selfTestKey, selfTestResultsIn } from './self-test-results.ts'
import { toy } from './toolchain.fixture.ts'

function fileOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-self-tests-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'deeper', 'self-tests.json')
}

const passed = (version: string): SelfTestResult => ({ outcome: 'passed', version })

test('a self-test result is found at the next start, only for the same language, toolchain and isolation', () => {
  const file = fileOfTest()
  const key = selfTestKey(toy('a'), 'mark', 'sandbox')
  selfTestResultsIn(file).remember('a', key, passed('1.2'))
  expect(selfTestResultsIn(file).recall(key)).toEqual(passed('1.2'))
  for (const other of [
    selfTestKey(toy('b'), 'mark', 'sandbox'),
    selfTestKey(toy('a'), 'mark2', 'sandbox'),
    selfTestKey(toy('a'), 'mark'),
  ])
    expect(selfTestResultsIn(file).recall(other)).toBeUndefined()
  expect(readdirSync(join(file, '..'))).toEqual(['self-tests.json'])
})

test('a failed result is found at the next start, and a later pass replaces it', () => {
  const file = fileOfTest()
  selfTestResultsIn(file).remember('a', 'k', { outcome: 'failed', what: 'it printed nothing' })
  expect(selfTestResultsIn(file).recall('k')).toEqual({ outcome: 'failed', what: 'it printed nothing' })
  selfTestResultsIn(file).remember('a', 'k', passed('1'))
  expect(selfTestResultsIn(file).recall('k')).toEqual(passed('1'))
})

test('two workers of one machine keep each other’s results, also for the same language', () => {
  const file = fileOfTest()
  const [one, other] = [selfTestResultsIn(file), selfTestResultsIn(file)]
  one.remember('a', 'in a sandbox', passed('1'))
  other.remember('b', 'kb', passed('2'))
  other.remember('a', 'in a container', passed('3'))
  one.remember('c', 'kc', passed('4'))
  const found = ['in a sandbox', 'kb', 'in a container', 'kc'].map(selfTestResultsIn(file).recall)
  expect(found).toEqual([passed('1'), passed('2'), passed('3'), passed('4')])
})

test('only the newest of 20 results of a language are kept', () => {
  const file = fileOfTest()
  const results = selfTestResultsIn(file)
  for (let i = 0; i < 20; i++) results.remember('a', `k${i}`, passed('1'))
  expect([results.recall('k0'), results.recall('k19')]).toEqual([undefined, passed('1')])
})

test.each([
  '',
  '[]',
  '{"a":[{"key":1}]}',
  '{"a":[{"key":"k","result":{"outcome":"passed","version":"1,evil=2"}}]}',
  'null',
  '{',
])('a result file that contains %j counts as empty', (text) => {
  const file = fileOfTest()
  selfTestResultsIn(file).remember('a', 'k', passed('1'))
  writeFileSync(file, text)
  expect(selfTestResultsIn(file).recall('k')).toBeUndefined()
})

test('a file that cannot be written leaves results in memory', () => {
  const results = selfTestResultsIn('/dev/null/self-tests.json')
  results.remember('a', 'k', passed('1'))
  expect(results.recall('k')).toEqual(passed('1'))
})
