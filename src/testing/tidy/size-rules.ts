import { isTest } from './read-tree.ts'
import { isNode, type Node, type SourceFile, walk } from './source-file.ts'

export interface Caps {
  readonly file: number
  readonly function: number
}

interface Size {
  readonly what: string
  readonly lines: number
  readonly cap: number
}

const fileSizes = (files: readonly SourceFile[], capsOf: (path: string) => Caps): Size[] =>
  files.map(({ path, text }) => ({
    what: `${path}:1`,
    lines: text.trimEnd().split('\n').length,
    cap: capsOf(path).file,
  }))

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Tests are left out: a suite is one long function by nature. */
const functionSizes = (files: readonly SourceFile[], capsOf: (path: string) => Caps): Size[] =>
  files
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, program, lineAt }) => {
      const sizes: Size[] = []
      walk(program, (node, parent) => {
        if (!FUNCTIONS.has(node.type)) return
        const line = lineAt(node.start)
        const lines = lineAt(node.end) - line + 1
        sizes.push({ what: `${path}:${line} ${nameOf(node, parent)}`, lines, cap: capsOf(path).function })
      })
      return sizes
    })

function nameOf(node: Node, parent: Node | undefined): string {
  const named = [node.id, parent?.key, parent?.id].find((part) => isNode(part) && typeof part.name === 'string')
  return isNode(named) ? `${named.name}()` : 'a function'
}

const tooLong = (sizes: readonly Size[]): string[] =>
  sizes
    .filter(({ lines, cap }) => lines > cap)
    .map(({ what, lines, cap }) => `${what} has ${lines} lines, at most ${cap}`)

export const oversized = (files: readonly SourceFile[], capsOf: (path: string) => Caps): string[] => [
  ...tooLong(fileSizes(files, capsOf)),
  ...tooLong(functionSizes(files, capsOf)),
]

/** How it stands, for people who watch the trend: the caps above are only for the extremes. */
export function sizeReport(files: readonly SourceFile[], capsOf: (path: string) => Caps): string {
  const line = (kind: string, sizes: readonly Size[]) => {
    const sorted = sizes.toSorted((one, other) => one.lines - other.lines)
    const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]?.lines ?? 0
    const longest = sorted
      .slice(-3)
      .reverse()
      .map(({ what, lines }) => `${what} ${lines}`)
    return `${kind}: ${sorted.length}, half ≤ ${at(0.5)} lines, nine in ten ≤ ${at(0.9)}; longest: ${longest.join(', ')}`
  }
  const ours = files.filter(({ path }) => path.startsWith('src/') && !isTest(path))
  return `${line('files', fileSizes(ours, capsOf))}\n${line('functions', functionSizes(ours, capsOf))}`
}
