import type { Digest } from '../../base/digest.ts'
import type { Directory } from '../../model/directory.ts'
import type { Trim } from './remote-tree.ts'

/** Reduces the output tree of a command to the entries that it created or changed, compared with its inputs. */
export const changedOnly =
  (inputs: ReadonlyMap<string, Directory>): Trim =>
  (path, directory) => {
    const before = inputs.get(path)
    if (before === undefined) return directory
    const files = byName(before.files)
    const directories = byName(before.directories)
    const symlinks = byName(before.symlinks)
    return {
      ...directory,
      files: directory.files.filter(({ name, digest, executable }) => {
        const same = files.get(name)
        return same === undefined || same.executable !== executable || !isSame(same.digest, digest)
      }),
      directories: directory.directories.filter(({ name, digest }) => {
        const same = directories.get(name)
        return same === undefined || !isSame(same.digest, digest)
      }),
      symlinks: directory.symlinks.filter(({ name, target }) => symlinks.get(name)?.target !== target),
    }
  }

const byName = <T extends { readonly name: string }>(nodes: readonly T[]): Map<string, T> =>
  new Map(nodes.map((node) => [node.name, node]))

const isSame = (one: Digest, other: Digest): boolean => one.hash === other.hash && one.size === other.size
