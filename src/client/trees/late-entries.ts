import { chmod, lutimes, symlink, utimes } from 'node:fs/promises'
import type { NodeProperties } from '../../model/node-properties.ts'
import { collided } from './download-faults.ts'

/** Permission bits only: a server must not set setuid and setgid. */
export const PERMISSIONS = 0o777

/** Symlinks and properties of directories, which are made after all files exist. */
export class LateEntries {
  readonly symlinks: { path: string; target: string; properties: NodeProperties | undefined }[] = []
  readonly directories: [path: string, properties: NodeProperties][] = []

  async finish(): Promise<void> {
    for (const { path, target, properties } of this.symlinks) {
      await symlink(target, path).catch(collided(path))
      if (properties?.mtime !== undefined) await lutimes(path, ...timesOf(properties))
    }
    // Children first: they need a parent that can be entered, and making them changes its time.
    for (const [path, properties] of this.directories.reverse()) {
      if (properties.mtime !== undefined) await utimes(path, ...timesOf(properties))
      if (properties.unixMode !== undefined) await chmod(path, properties.unixMode & PERMISSIONS)
    }
  }
}

/** As text: Node replaces a negative number, a time before 1970, by the current time. */
export function timesOf({ mtime }: NodeProperties): [atime: string, mtime: string] {
  const seconds = String((mtime?.seconds ?? 0) + (mtime?.nanos ?? 0) / 1e9)
  return [seconds, seconds]
}
