import { isNode, type Node, type SourceFile, walk } from './source-file.ts'

export const explicitAny = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, program, lineAt }) => {
    const found: string[] = []
    walk(program, (node) => {
      if (node.type === 'TSAnyKeyword') found.push(`${path}:${lineAt(node.start)} any`)
    })
    return found
  })

const GLOBALS = new Set(['process', 'setTimeout', 'setInterval'])
const MEMBERS = new Set([
  'Date.now',
  'performance.now',
  'crypto.randomUUID',
  'globalThis.setTimeout',
  'globalThis.process',
])
const MODULES = /^(node:)?(process|timers(\/promises)?)$/

/** Time, ids and the process come in by the door: only the wiring may fetch them. */
export const ambient = (files: readonly SourceFile[], mayUse: (path: string) => boolean): string[] =>
  files
    .filter(({ path }) => !mayUse(path))
    .flatMap(({ path, program, lineAt }) => {
      const own = declaredNames(program)
      const found: string[] = []
      walk(program, (node, parent, field) => {
        const name = ambientName(node, parent, field)
        if (name !== undefined && !(GLOBALS.has(name) && own.has(name)))
          found.push(`${path}:${lineAt(node.start)} uses ${name}`)
      })
      return found
    })

function ambientName(node: Node, parent: Node | undefined, field: string): string | undefined {
  if (node.type === 'ImportDeclaration' && isNode(node.source) && MODULES.test(String(node.source.value))) {
    return String(node.source.value)
  }
  if (node.type === 'ImportSpecifier') return nameIn(node.imported) === 'randomUUID' ? 'randomUUID' : undefined
  if (node.type === 'NewExpression' && nameIn(node.callee) === 'Date' && isEmpty(node.arguments)) return 'new Date()'
  if (node.type === 'MemberExpression' && node.computed === false) {
    const name = `${nameIn(node.object)}.${nameIn(node.property)}`
    return MEMBERS.has(name) ? name : undefined
  }
  return isReference(node, parent, field) && GLOBALS.has(String(node.name)) ? String(node.name) : undefined
}

/** Not the name of a field or of what a module exports. */
const isReference = (node: Node, parent: Node | undefined, field: string): boolean =>
  node.type === 'Identifier' &&
  !(field === 'property' && parent?.computed === false) &&
  !(field === 'key' && parent?.computed === false) &&
  !/^(Import|Export|TS)/.test(parent?.type ?? '')

/** What a file itself calls by such a name is not the global; the linter, which knows scopes, sees to the rest. */
function declaredNames(program: Node): Set<string> {
  const names = new Set<string>()
  walk(program, (node, parent, field) => {
    const declares = field === 'params' || (field === 'id' && parent?.type !== 'TSTypeReference') || field === 'local'
    if (node.type === 'Identifier' && declares) names.add(String(node.name))
  })
  return names
}

const nameIn = (value: unknown): string => (isNode(value) ? String(value.name ?? '') : '')

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
