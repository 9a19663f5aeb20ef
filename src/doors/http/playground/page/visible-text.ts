/**
 * Output as plain text for the page: invisible characters, and those that would move other text, are replaced by
 * visible signs. It is not a terminal.
 */
export const visibleText = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(UNSEEN, (sign) => {
    const code = sign.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '\u2421' : `\\u${code.toString(16).padStart(4, '0')}`
  })

/** Control characters except tab and newline, and characters that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
