import { expect, test } from 'vitest'
import { visibleText } from './page/visible-text.ts'

test('text is left as it is', () => {
  const text = 'a\tb\nc <b>&amp;</b> ä 日本 🎉 \u00a0.'
  expect(visibleText(text)).toBe(text)
})

test('ends of lines are one sign, and a lone return is seen', () => {
  expect(visibleText('a\r\nb\rc')).toBe('a\nb␍c')
})

test('signs that cannot be seen are shown, and those that steer a terminal or turn a line do nothing', () => {
  expect(visibleText('\0\x07\b\x1b[2J\x7f')).toBe('␀␇␈␛[2J␡')
  expect(visibleText('\x9b31m \u202etxt.exe\u2066')).toBe('\\u009b31m \\u202etxt.exe\\u2066')
})
