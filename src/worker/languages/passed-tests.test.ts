import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { passedTestsIn, passKey } from './passed-tests.ts'
import { toy } from './toolchain.fixture.ts'

function fileOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-passed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'deeper', 'passed.json')
}

test('what passed is known at the next start, by all that it depends on', () => {
  const file = fileOfTest()
  const key = passKey(toy('a'), 'mark', 'sandbox')
  passedTestsIn(file).remember('a', { key, version: '1.2' })
  expect(passedTestsIn(file).recall(key)).toBe('1.2')
  for (const other of [
    passKey(toy('b'), 'mark', 'sandbox'),
    passKey(toy('a'), 'mark2', 'sandbox'),
    passKey(toy('a'), 'mark'),
  ])
    expect(passedTestsIn(file).recall(other)).toBeUndefined()
  expect(readdirSync(join(file, '..'))).toEqual(['passed.json'])
})

test('two workers of one machine do not forget what the other found', () => {
  const file = fileOfTest()
  const [one, other] = [passedTestsIn(file), passedTestsIn(file)]
  one.remember('a', { key: 'ka', version: '1' })
  other.remember('b', { key: 'kb', version: '2' })
  expect(['ka', 'kb'].map(passedTestsIn(file).recall)).toEqual(['1', '2'])
})

test.each(['', '[]', '{"a":{"key":1}}', '{"a":{"key":"k","version":"1,evil=2"}}', 'null', '{'])(
  'a file with %j in it is as good as none',
  (text) => {
    const file = fileOfTest()
    passedTestsIn(file).remember('a', { key: 'k', version: '1' })
    writeFileSync(file, text)
    expect(passedTestsIn(file).recall('k')).toBeUndefined()
  },
)

test('where nothing can be written, all goes on', () => {
  const passed = passedTestsIn('/dev/null/passed.json')
  passed.remember('a', { key: 'k', version: '1' })
  expect(passed.recall('k')).toBe('1')
})
