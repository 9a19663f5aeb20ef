/**
 * Splits a command line as a shell does: quotes and backslashes keep words together. Variables, patterns and commands
 * are not interpreted. Undefined when a quote is not closed.
 */
export function splitCommandLine(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let i = 0; i < line.length; i++) {
    const char = line[i] as string
    if (quote === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (char === quote) quote = undefined
    else if (isEscape(char, quote, line[i + 1])) word = (word ?? '') + line[++i]
    else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return quote === undefined ? words : undefined
}

/** Within double quotes a backslash escapes only characters that are special there. */
const isEscape = (char: string, quote: string | undefined, next: string | undefined): boolean =>
  char === '\\' && next !== undefined && (quote === undefined || (quote === '"' && /["\\$`]/.test(next)))
