import { join } from 'node:path'
import { Turns } from '../rooms/pacing.ts'
import { countNodes, type OutputGathering } from './gather-outputs.ts'
import { matchesGlob } from './glob.ts'
import type { Node } from './room-files.ts'

/**
 * Finds the nodes below a directory that match a pattern, without entering symlinks. A directory that matches is not
 * searched, because it is collected as a whole. A node that does not match may be of any kind, such as a socket.
 */
export async function* matchingNodes(
  globs: readonly string[],
  start: string,
  at: OutputGathering,
): AsyncGenerator<{ readonly path: string; readonly node: Node }> {
  const { files, signal } = at
  const root = globs.length === 0 ? undefined : files.look(start)
  if (root?.kind !== 'directory') return
  const patterns = patternsOf(globs)
  const turns = new Turns(signal)
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = files.namesIn(join(root.real, folder), folder)
    countNodes(at, names.length)
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
  // `**` alone means all files: each file of a directory is matched separately, and hidden files are not matched.
  const forDirectories = globs.filter((glob) => glob !== '**' && !glob.endsWith('/**'))
  const deepest = Math.max(...globs.map(depthOf))
  return {
    fits: (path: string, isDirectory: boolean): boolean =>
      (isDirectory ? forDirectories : globs).some((glob) => matchesGlob(glob, path)),
    mayFitIn: (path: string): boolean => path.split('/').length < deepest,
  }
}

/** The number of names in the longest path that can match. */
function depthOf(glob: string): number {
  const names = glob.split('/')
  return names.includes('**') ? Number.POSITIVE_INFINITY : names.length
}
