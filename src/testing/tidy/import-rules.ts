import { isGenerated, isTest } from './read-tree.ts'
import type { SourceFile } from './source-file.ts'

export type Reach = Readonly<Record<string, readonly string[]>>

/** The folder under src that contains the file; undefined outside of src and for files directly in src. */
const folderOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1]

/** Each import between folders must be in the table; tests may import `testing`, too. */
export const outOfReach = (files: readonly SourceFile[], reach: Reach): string[] =>
  files.flatMap(({ path, imports }) => {
    const from = folderOf(path)
    if (from === undefined) return []
    const allowed = reach[from]
    if (allowed === undefined) return [`${path}:1 ${from}/ is not in the REACH table`]
    return imports.flatMap(({ target, line }) => {
      if (target === undefined) return []
      const to = target.startsWith('src/') ? folderOf(target) : target.split('/')[0]
      if (to === undefined || to === from || allowed.includes(to) || (to === 'testing' && isTest(path))) return []
      return to in reach || /^(test|bench)$/.test(to) ? [`${path}:${line} ${from}/ may not import ${to}/`] : []
    })
  })

/** The allowed imports between the sub-folders of one folder; `.` is the folder itself. */
export type Layers = Readonly<Record<string, readonly string[]>>

/** Each import between sub-folders of a layered folder must be in its table. Tests may import every layer. */
export const outOfLayer = (files: readonly SourceFile[], layered: Readonly<Record<string, Layers>>): string[] =>
  Object.entries(layered).flatMap(([folder, layers]) => {
    const layerOf = (path: string): string | undefined => {
      if (!path.startsWith(`${folder}/`)) return undefined
      const inside = path.slice(folder.length + 1).split('/')
      return inside.length > 1 ? inside[0] : '.'
    }
    return files.flatMap(({ path, imports }) => {
      const from = layerOf(path)
      if (from === undefined || isTest(path)) return []
      const allowed = layers[from]
      if (allowed === undefined) return [`${path}:1 ${folder}/${from}/ is not in the table of its layers`]
      return imports.flatMap(({ target, line }) => {
        const to = target === undefined ? undefined : layerOf(target)
        if (to === undefined || to === from || allowed.includes(to)) return []
        return [`${path}:${line} ${from} may not import ${to}`]
      })
    })
  })

/** Only the allowed folders may import generated code. */
export const generatedElsewhere = (files: readonly SourceFile[], allowed: RegExp): string[] =>
  files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => target !== undefined && isGenerated(target) && !allowed.test(path))
      .map(({ line, specifier }) => `${path}:${line} imports generated code: ${specifier}`),
  )

/** Cycles among files that are loaded together. Imports of types are erased, and lazy ones load later. */
export function cycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path)
    if (start >= 0) found.push([...way.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const { target, kind } of byPath.get(path)?.imports ?? []) {
      if (kind === 'loaded' && target !== undefined) visit(target, [...way, path])
    }
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  return found
}

/** Source files that no entry file imports, directly or indirectly. */
export function orphans(files: readonly SourceFile[], isEntry: (path: string) => boolean): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const { target } of byPath.get(path)?.imports ?? []) if (target !== undefined) visit(target)
  }
  for (const { path } of files) if (isEntry(path)) visit(path)
  return files
    .filter(({ path }) => path.startsWith('src/') && !reached.has(path))
    .map(({ path }) => `${path}:1 nothing leads here`)
}
