/**
 * YAML requires that the lines of a flow collection are indented deeper than their parent. Other CWL implementations
 * accept documents that violate this, and many exist; so when a document fails for this reason, such lines are
 * indented.
 */
export function indentFlows(text: string): string {
  let open = 0
  let quote: string | undefined
  let block: number | undefined
  return text
    .split('\n')
    .map((line) => {
      const indent = line.search(/\S/)
      if (block !== undefined && (indent > block || indent < 0)) return line
      block = undefined
      const inside = open > 0
      const end = readLine(line, { open, quote })
      open = end.open
      quote = end.quote
      if (open === 0 && /(^|[\s:-])[|>][+-]?\d?\s*(#.*)?$/.test(line)) block = homeOf(line)
      return inside ? FAR + line : line
    })
    .join('\n')
}

/** The column that a block in this line is indented against: its key, or the dash when there is none. */
function homeOf(line: string): number {
  const [dashes = ''] = /^\s*(?:-\s+)*/.exec(line) ?? []
  return /^[|>]/.test(line.slice(dashes.length)) ? dashes.lastIndexOf('-') : dashes.length
}

const FAR = ' '.repeat(60)

interface Reading {
  open: number
  quote: string | undefined
}

/** The brackets and quotes that are still open at the end of a line. They only count where a value may start. */
function readLine(line: string, from: Reading): Reading {
  const reading = { ...from }
  let isStart = reading.open === 0
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? ''
    if (reading.quote !== undefined) at += endsQuote(reading, char)
    else if (char === '#' && /\s/.test(line[at - 1] ?? ' ')) break
    else if (reading.open > 0 || isStart) opens(reading, char)
    if (/\S/.test(char)) isStart = /[-:]/.test(char) && !/\S/.test(line[at + 1] ?? ' ')
  }
  return reading.open > 0 ? reading : { open: 0, quote: undefined }
}

/** Returns how many further characters belong to this one. */
function endsQuote(reading: Reading, char: string): number {
  if (char === reading.quote) reading.quote = undefined
  return char === '\\' && reading.quote === '"' ? 1 : 0
}

function opens(reading: Reading, char: string): void {
  if (char === '"' || char === "'") reading.quote = char
  if (char === '[' || char === '{') reading.open += 1
  if (char === ']' || char === '}') reading.open -= 1
}
