import { dirname } from 'node:path/posix'
import { isTest } from './read-tree.ts'
import type { SourceFile } from './source-file.ts'

type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Cycles among files and among folders. Imports of types count: a reader follows them like any other. Lazy imports and
 * tests do not count. A folder and its sub-folder are two folders.
 */
export function importCycles(files: readonly SourceFile[]): string[] {
  const between = fileArrows(files.filter(({ path }) => path.startsWith('src/') && !isTest(path)))
  return [...knots(between), ...knots(folderArrows(between))].map((knot) => knot.toSorted().join(' ↔ '))
}

function fileArrows(files: readonly SourceFile[]): Arrows {
  const known = new Set(files.map(({ path }) => path))
  return new Map(
    files.map(({ path, imports }) => [
      path,
      new Set(imports.flatMap(({ target, kind }) => (kind !== 'lazy' && target && known.has(target) ? [target] : []))),
    ]),
  )
}

function folderArrows(files: Arrows): Arrows {
  const arrows = new Map<string, Set<string>>()
  for (const [path, targets] of files) {
    const from = dirname(path)
    const found = arrows.get(from) ?? new Set()
    arrows.set(from, found)
    for (const target of targets) if (dirname(target) !== from) found.add(dirname(target))
  }
  return arrows
}

/** The strongly connected components with more than one member (Tarjan's algorithm). */
function knots(arrows: Arrows): string[][] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    let lowest = index
    stack.push(node)
    for (const next of arrows.get(node) ?? []) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (stack.includes(next)) lowest = Math.min(lowest, order.get(next) ?? index)
    }
    if (lowest === index) {
      const knot = stack.splice(stack.indexOf(node))
      if (knot.length > 1) found.push(knot)
    }
    return lowest
  }
  for (const node of arrows.keys()) if (!order.has(node)) visit(node)
  return found
}

/** Folders of sources with more than `most` files; tests are not counted. */
export function crowdedFolders(paths: readonly string[], most: number): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    if (!/^src\/.*\.tsx?$/.test(path) || isTest(path)) continue
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > most).map(([folder, count]) => `${folder} has ${count} files`)
}
