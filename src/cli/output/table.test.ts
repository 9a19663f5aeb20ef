import { expect, test } from 'vitest'
import { clippedText, commandText, quietText, spanText, tableText, widthOf } from './table.ts'

test('columns are as wide as their content, and wide characters count as two', () => {
  expect(
    tableText(
      ['A', 'B'],
      [
        ['名前', 'x'],
        ['n', 'y'],
      ],
    ),
  ).toBe('A     B\n名前  x\nn     y\n')
  expect(widthOf('é名\u0301')).toBe(3)
})

test('control characters in text of other users are replaced', () => {
  expect(tableText(['A'], [['\u001b[2J\r\n\u202Eevil\u0007']])).toBe('A\n�[2J���evil�\n')
  expect(quietText('plain ünïcode 名')).toBe('plain ünïcode 名')
})

test('texts are cut to the given number of cells', () => {
  expect([0, 1, 2, 3, 4, 5].map((cells) => clippedText('abcd', cells))).toEqual(['', '…', 'a…', 'ab…', 'abcd', 'abcd'])
  expect(clippedText('名前名', 4)).toBe('名…')
})

test('commands are quoted as for a shell', () => {
  expect(commandText(['a', 'b c', "it's", '', '--x=1', '$HOME'])).toBe(`a 'b c' 'it'\\''s' '' --x=1 '$HOME'`)
})

test.each([
  [-5, '0.0s'],
  [0, '0.0s'],
  [9949, '9.9s'],
  [9950, '9s'],
  [59_999, '59s'],
  [60_000, '1m00s'],
  [3_599_000, '59m59s'],
  [3_600_000, '1h00m'],
  [172_800_000, '2d'],
])('%i ms are written as %s', (ms, words) => {
  expect(spanText(ms)).toBe(words)
})
