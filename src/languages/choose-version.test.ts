import { expect, test } from 'vitest'
import { FaultError } from '../base/fault.ts'
import { chooseVersion, compareVersions, sortedVersions } from './choose-version.ts'

const PYTHONS = ['3.9.2', '3.11.2', '3.10.12', '2.7.18', '3.12.0rc1']

test.each([
  [undefined, '3.11.2'],
  ['', '3.11.2'],
  ['*', '3.11.2'],
  ['x', '3.11.2'],
  ['3.11.2', '3.11.2'],
  ['v3.11.2', '3.11.2'],
  ['3.11', '3.11.2'],
  ['3.9.x', '3.9.2'],
  ['2', '2.7.18'],
  ['2.x', '2.7.18'],
  ['^2', '2.7.18'],
  ['^3.9 <3.12', '3.11.2'],
  ['~3.10.1', '3.10.12'],
  ['~3.9', '3.9.2'],
  ['>=3.10 <3.11', '3.10.12'],
  ['> 3.9.2 <= 3.10', '3.10.12'],
  ['<3', '2.7.18'],
  ['=3.9.2', '3.9.2'],
  ['1.x || 2.x', '2.7.18'],
  ['3.12.0rc1', '3.12.0rc1'],
  ['3.12', '3.12.0rc1'],
  ['4', undefined],
  ['^3.12.1', undefined],
  ['3.1', undefined],
])('of the versions offered, %j chooses %j', (selector, chosen) => {
  expect(chooseVersion(selector, PYTHONS)).toBe(chosen)
})

test('versions of two or four numbers, and dates, can be chosen', () => {
  expect(chooseVersion('^6.8', ['6.8.0.105', '6.12'])).toBe('6.12')
  expect(chooseVersion('6.8.0', ['6.8.0.105'])).toBe('6.8.0.105')
  expect(chooseVersion('2021', ['2021-03-27', '2020-11-08'])).toBe('2021-03-27')
  expect(chooseVersion('^0.9.1', ['0.9.4', '0.10.0'])).toBe('0.9.4')
})

test('without offered versions none is chosen', () => {
  expect(chooseVersion('*', [])).toBeUndefined()
  expect(chooseVersion(undefined, [])).toBeUndefined()
})

test.each(['latest', '3.11; rm', '^^3', '>=', '3..1', '||', 'a'.repeat(300), '1'.repeat(300), `${'1-'.repeat(120)}!`])(
  'the selector %j is refused',
  (selector) => {
    expect(() => chooseVersion(selector, PYTHONS)).toThrow(FaultError)
  },
)

test('versions are sorted by number, newest first, each once', () => {
  expect(sortedVersions([...PYTHONS, '3.9.2', '3.12.0'])).toEqual([
    '3.12.0',
    '3.12.0rc1',
    '3.11.2',
    '3.10.12',
    '3.9.2',
    '2.7.18',
  ])
  expect(compareVersions('1.0', '1.0.0')).toBeLessThan(0)
  expect(compareVersions('10', '9')).toBeGreaterThan(0)
})
