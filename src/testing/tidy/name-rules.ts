import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isNode, type Node, type SourceFile, walk } from './source-file.ts'

const SUFFIX = /.(Manager|Helper|Handler|Impl|Base)$/

/** Names that do not describe what a thing does. */
export const emptyNames = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, program, lineAt }) =>
    exportedNames(program)
      .filter(({ name }) => SUFFIX.test(name))
      .map(({ name, at }) => `${path}:${lineAt(at)} ${name} ends in ${SUFFIX.exec(name)?.[1]}`),
  )

function exportedNames(program: Node): { name: string; at: number }[] {
  const found: { name: string; at: number }[] = []
  const add = (node: unknown): void => {
    if (isNode(node) && typeof node.name === 'string') found.push({ name: node.name, at: node.start })
  }
  walk(program, (node) => {
    if (node.type === 'ExportSpecifier') add(node.exported)
    if (node.type !== 'ExportNamedDeclaration' && node.type !== 'ExportDefaultDeclaration') return
    if (!isNode(node.declaration)) return
    add(node.declaration.id)
    const { declarations } = node.declaration
    if (Array.isArray(declarations)) for (const one of declarations) add(one.id)
  })
  return found
}

const KINDS = new Set(['utils', 'types', 'interfaces', 'classes', 'helpers'])

/** A folder is a promise, not a kind of thing. */
export const emptyFolders = (paths: readonly string[]): string[] =>
  paths
    .filter((path) =>
      path
        .split('/')
        .slice(0, -1)
        .some((part) => KINDS.has(part)),
    )
    .map((path) => `${path}:1 is in a folder that is named for a kind of thing`)

/** Files that only pass on what others hold: an import should name the file that has it. */
export const barrels = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ path, program }) => basename(path) === 'index.ts' || passesOn(program.body))
    .map(({ path }) => `${path}:1 is a barrel`)

const passesOn = (body: unknown): boolean =>
  Array.isArray(body) && body.length > 0 && body.every((node) => /^Export/.test(node.type) && isNode(node.source))

const TEXT =
  /(^|\/)[^.]*$|\.(ts|js|mjs|json|md|toml|ya?ml|proto|grit|sh|html|css|txt|nvmrc|npmrc|gitignore|editorconfig)$/

/** Words that belong to one machine or one registry, and would lead every other reader astray. */
export const bannedWords = (root: string, paths: readonly string[], banned: readonly RegExp[]): string[] =>
  paths
    .filter((path) => TEXT.test(path))
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          banned.flatMap((word) => word.exec(line)?.[0] ?? []).map((word) => `${path}:${index + 1} says ${word}`),
        ),
    )
