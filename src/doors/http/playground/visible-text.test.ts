import { expect, test } from 'vitest'
import { visibleText } from './page/visible-text.ts'

test('printable text is unchanged', () => {
  const text = 'a\tb\nc <b>&amp;</b> ä 日本 🎉 \u00a0.'
  expect(visibleText(text)).toBe(text)
})

test('CRLF becomes LF, and a lone CR becomes visible', () => {
  expect(visibleText('a\r\nb\rc')).toBe('a\nb␍c')
})

test('control characters and direction marks are shown as symbols or escapes', () => {
  expect(visibleText('\0\x07\b\x1b[2J\x7f')).toBe('␀␇␈␛[2J␡')
  expect(visibleText('\x9b31m \u202etxt.exe\u2066')).toBe('\\u009b31m \\u202etxt.exe\\u2066')
})
