import { isTest } from '../tidy/read-tree.ts'
import { isNode, type Node, type SourceFile, walk } from '../tidy/source-file.ts'

/** A text that an operator can meet, as the source has it; values in it are written `…`. */
export interface Message {
  readonly text: string
  readonly kind: 'warn' | 'error' | 'fault'
  readonly path: string
}

/** All messages of the program: its log lines of the levels warn and error, and the faults of the files that `faultsIn` names. */
export const messagesIn = (files: readonly SourceFile[], faultsIn: (path: string) => boolean): Message[] =>
  files
    .filter(({ path }) => path.startsWith('src/') && !isTest(path))
    .flatMap((file) => [...logLines(file), ...(faultsIn(file.path) ? faults(file) : [])])

/** `log.warn(fields, 'text')`, and `{ level: 'warn', what: 'text' }` for a line that is written later. */
function logLines({ path, program }: SourceFile): Message[] {
  const found: Message[] = []
  walk(program, (node) => {
    const noted = literal(field(node, 'level'))
    if (noted === 'warn' || noted === 'error')
      for (const text of textsOf(field(node, 'what'))) found.push({ text, kind: noted, path })
    if (node.type !== 'CallExpression' || !isNode(node.callee) || !Array.isArray(node.arguments)) return
    const level = isNode(node.callee.property) ? node.callee.property.name : undefined
    if ((level !== 'warn' && level !== 'error') || node.arguments.length !== 2) return
    for (const text of textsOf(node.arguments[1])) found.push({ text, kind: level, path })
  })
  return found
}

/** `new FaultError({ what: 'text' })` and `invalid('text')`. */
function faults({ path, program }: SourceFile): Message[] {
  const found: Message[] = []
  const add = (value: unknown): void => {
    for (const text of textsOf(value)) found.push({ text, kind: 'fault', path })
  }
  walk(program, (node) => {
    const callee = isNode(node.callee) ? node.callee.name : undefined
    if (!Array.isArray(node.arguments)) return
    if (node.type === 'CallExpression' && callee === 'invalid') add(node.arguments[0])
    if (node.type === 'NewExpression' && callee === 'FaultError') add(field(node.arguments[0], 'what'))
  })
  return found
}

function field(object: unknown, name: string): unknown {
  if (!isNode(object) || !Array.isArray(object.properties)) return undefined
  return object.properties.find((property: Node) => isNode(property.key) && property.key.name === name)?.value
}

const literal = (value: unknown): unknown => (isNode(value) && value.type === 'Literal' ? value.value : undefined)

/** The texts that an expression can have: a literal, a template, either side of a condition, a sum. */
function textsOf(value: unknown): string[] {
  if (!isNode(value)) return []
  if (value.type === 'Literal') return typeof value.value === 'string' ? [value.value] : []
  if (value.type === 'TemplateLiteral' && Array.isArray(value.quasis))
    return [value.quasis.map((part: { value: { cooked: string } }) => part.value.cooked).join('…')]
  if (value.type === 'ConditionalExpression') return [...textsOf(value.consequent), ...textsOf(value.alternate)]
  if (value.type === 'BinaryExpression' && value.operator === '+')
    return textsOf(value.left).flatMap((left) => textsOf(value.right).map((right) => left + right))
  return []
}
