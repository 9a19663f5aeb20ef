/** Prints columns. Texts come from clients and workers, and must not contain control sequences for the terminal. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(quietText))
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))))
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) =>
        column === row.length - 1 ? text : text + ' '.repeat((widths[column] ?? 0) - widthOf(text)),
      )
      .join('  ')
      .trimEnd()
  return `${all.map(line).join('\n')}\n`
}

/** Removes control characters and characters that change the text direction. */
export const quietText = (text: string): string =>
  text.replace(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '�')

/** The number of terminal cells of a text: East Asian characters and most symbols take two. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += WIDE.test(char) ? 2 : MARK.test(char) ? 0 : 1
  return width
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u
const MARK = /\p{M}/u

/** Cuts a text to this many cells. */
export function clippedText(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text
  let kept = ''
  let width = 1
  for (const char of text) {
    width += widthOf(char)
    if (width > cells) break
    kept += char
  }
  return cells > 0 ? `${kept}…` : ''
}

/** Quotes it for a shell. */
export const commandText = (argv: readonly string[]): string =>
  argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ')

/** `0.4s`, `12s`, `3m05s`, `2h10m`, `4d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`
  if (seconds < 60) return `${Math.floor(seconds)}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${String(Math.floor(seconds % 60)).padStart(2, '0')}s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours}h${String(minutes % 60).padStart(2, '0')}m` : `${Math.floor(hours / 24)}d`
}
