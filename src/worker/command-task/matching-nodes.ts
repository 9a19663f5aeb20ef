import { join } from 'node:path'
import type { Collecting } from '../outputs/collecting.ts'
import { matchesGlob } from '../outputs/glob.ts'
import type { Node } from '../outputs/room-files.ts'
import { Turns } from '../turns.ts'

/**
 * What fits one of the patterns below a directory; no symlink is entered. A directory that fits is not looked into any
 * further, for it is taken whole. What does not fit may be anything, a socket included.
 */
export async function* matchingNodes(
  globs: readonly string[],
  start: string,
  { files, count, signal }: Collecting,
): AsyncGenerator<{ readonly path: string; readonly node: Node }> {
  const root = globs.length === 0 ? undefined : files.look(start)
  if (root?.kind !== 'directory') return
  const patterns = patternsOf(globs)
  const turns = new Turns(signal)
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = files.namesIn(join(root.real, folder), folder)
    count(names.length)
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`
      const real = join(root.real, path)
      const isDirectory = files.isDirectory(real, path)
      await turns.next()
      if (!patterns.fits(path, isDirectory)) {
        if (isDirectory && patterns.mayFitIn(path)) waiting.push(path)
        continue
      }
      const node = files.at(real, path)
      if (node !== undefined) yield { path, node }
    }
  }
}

function patternsOf(globs: readonly string[]) {
  // `**` alone means all files: what is in a directory is looked at one by one, and hidden files stay hidden.
  const forDirectories = globs.filter((glob) => glob !== '**' && !glob.endsWith('/**'))
  const deepest = Math.max(...globs.map(depthOf))
  return {
    fits: (path: string, isDirectory: boolean): boolean =>
      (isDirectory ? forDirectories : globs).some((glob) => matchesGlob(glob, path)),
    mayFitIn: (path: string): boolean => path.split('/').length < deepest,
  }
}

/** How many names a path that fits can have. */
function depthOf(glob: string): number {
  const names = glob.split('/')
  return names.includes('**') ? Number.POSITIVE_INFINITY : names.length
}
