import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Collecting } from './collecting.ts'
import { matchesGlob } from './glob.ts'

const MOST_PATTERN = 4096

/** Files and symlinks below the working directory that fit a pattern, in order; symlinks are not entered. */
export function filesMatching(globs: readonly string[], start: string, { files, count }: Collecting): string[] {
  const tooLong = globs.find((glob) => glob.length > MOST_PATTERN)
  if (tooLong !== undefined) throw invalid(`the pattern ${JSON.stringify(tooLong.slice(0, 100))} is too long`)
  const node = globs.length === 0 ? undefined : files.look(start)
  if (node?.kind !== 'directory') return []
  const found: string[] = []
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = files.namesIn(join(node.real, folder), folder)
    count(names.length)
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`
      const kind = files.at(join(node.real, path), path)?.kind
      if (kind === 'directory') waiting.push(path)
      else if (kind !== undefined && globs.some((glob) => matchesGlob(glob, path))) found.push(path)
    }
  }
  return found.sort()
}
