import { dirname, join } from 'node:path/posix'
import { parseSync } from 'oxc-parser'

/** A syntax node as it comes from the parser; what its fields hold depends on the type. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface Import {
  readonly specifier: string
  /** The imported file in this tree, when the specifier is relative. */
  readonly target: string | undefined
  readonly line: number
  /** `loaded` at the start, `lazy` (a dynamic import, or a file named for a thread), or only for its `types`. */
  readonly kind: 'loaded' | 'lazy' | 'types'
}

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
  readonly program: Node
  readonly imports: readonly Import[]
  lineAt(offset: number): number
}

export function parseSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index)
  const lineAt = (offset: number) => starts.filter((start) => start < offset).length + 1
  const root = program as unknown as Node
  return { path, text, program: root, lineAt, imports: importsOf(path, root, lineAt) }
}

/** Calls back for every node, parents first, with the node that it stands in and the field that holds it. */
export function walk(node: Node, visit: (node: Node, parent: Node | undefined, field: string) => void): void {
  const go = (at: Node, parent: Node | undefined, field: string): void => {
    visit(at, parent, field)
    for (const [name, value] of Object.entries(at)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) go(child, at, name)
    }
  }
  go(node, undefined, '')
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

function importsOf(path: string, program: Node, lineAt: SourceFile['lineAt']): Import[] {
  const found: Import[] = []
  walk(program, (node) => {
    const named = importedBy(node)
    if (named === undefined) return
    const { specifier, kind } = named
    const target = specifier.startsWith('.') ? join(dirname(path), specifier) : undefined
    found.push({ specifier, target, line: lineAt(node.start), kind })
  })
  return found
}

function importedBy(node: Node): Pick<Import, 'specifier' | 'kind'> | undefined {
  const named = (value: unknown, kind: Import['kind']) =>
    isNode(value) && typeof value.value === 'string' ? { specifier: value.value, kind } : undefined
  switch (node.type) {
    case 'ImportDeclaration':
      return named(node.source, node.importKind === 'type' ? 'types' : 'loaded')
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return named(node.source, node.exportKind === 'type' ? 'types' : 'loaded')
    case 'ImportExpression':
      return named(node.source, 'lazy')
    case 'TSImportType':
      return named(node.source ?? node.argument, 'types')
    case 'NewExpression': // new URL('./thread.ts', import.meta.url)
      return isNode(node.callee) && node.callee.name === 'URL' && Array.isArray(node.arguments)
        ? named(node.arguments[0], 'lazy')
        : undefined
    default:
      return undefined
  }
}
