import { invalid } from '../../base/fault.ts'

export const hasExpression = (text: string): boolean => /\$[({]/.test(text)

/** One piece of a text: plain text, or code between `$(` and `)` or `${` and `}`. */
export type TextPiece = { readonly text: string } | { readonly code: string; readonly isBody: boolean }

/** Until v1.1 a backslash escaped any character; since v1.2 only `\$(`, `\${` and `\\` are escapes. */
export type Escapes = 'before-v1.2' | 'since-v1.2'

/** Splits a text into plain text and expressions. */
export function scan(source: string, escapes: Escapes): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let text = ''
  let at = 0
  while (at < source.length) {
    const char = source[at] ?? ''
    const opener = source[at + 1]
    if (char === '\\') {
      const [meant, length] = plainAfter(source, at, escapes)
      text += meant
      at += length
    } else if (char === '$' && (opener === '(' || opener === '{')) {
      const end = endOfCode(source, at + 1)
      if (end === undefined)
        throw invalid(
          `the expression that starts with ${source.slice(at, at + 20)} is not closed; write \\$${opener} for plain text`,
        )
      if (text !== '') pieces.push({ text })
      text = ''
      pieces.push({ code: source.slice(at + 2, end), isBody: opener === '{' })
      at = end + 1
    } else {
      text += char
      at += 1
    }
  }
  return text === '' ? pieces : [...pieces, { text }]
}

function plainAfter(source: string, at: number, escapes: Escapes): readonly [string, number] {
  const next = source[at + 1]
  if (next === undefined) return ['\\', 1]
  if (escapes === 'before-v1.2') return [next, 2]
  if (next === '\\') return ['\\', 2]
  const opens = next === '$' && /[({]/.test(source[at + 2] ?? '')
  return opens ? [`$${source[at + 2]}`, 3] : [`\\${next === '$' ? '' : next}`, next === '$' ? 1 : 2]
}

const CLOSER: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' }

/** Returns the index of the bracket that closes the one at `start`; brackets in strings are ignored. */
function endOfCode(source: string, start: number): number | undefined {
  const open: string[] = []
  let quote: string | undefined
  for (let at = start; at < source.length; at += 1) {
    const char = source[at] ?? ''
    if (char === '\\') at += 1
    else if (quote !== undefined) quote = char === quote ? undefined : quote
    else if (char === '"' || char === "'") quote = char
    else if (CLOSER[char] !== undefined) open.push(CLOSER[char])
    else if (char === open.at(-1)) {
      open.pop()
      if (open.length === 0) return at
    }
  }
  return undefined
}
