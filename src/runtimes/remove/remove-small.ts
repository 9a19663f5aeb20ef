import { type Dirent, readdir, rmdir, unlink } from 'node:fs'

/** More than this is for `removeTree`. */
const SMALL_ENTRIES = 32

/**
 * Removes a directory with a few things in it, as most commands leave it; false when it is more, or something is in the way: then
 * some of it may be gone. With plain callbacks, for most of what a promise for each would cost is saved; and never on the
 * spot, for a file system that has to write its journal first keeps who waits for milliseconds.
 */
export async function isRemovedSmall(root: string): Promise<boolean> {
  const all: Entry[] = [{ path: root, isDirectory: true }]
  try {
    for (let next = 0; next < all.length; next++) {
      const { path, isDirectory } = all[next] as Entry
      if (!isDirectory) continue
      for (const entry of await entriesIn(path)) // a symlink is none, whatever it leads to
        all.push({ path: `${path}/${entry.name}`, isDirectory: entry.isDirectory() })
      if (all.length > SMALL_ENTRIES) return false
    }
    await removed(all.reverse()) // what is in a directory before the directory
    return true
  } catch {
    return false
  }
}

interface Entry {
  readonly path: string
  readonly isDirectory: boolean
}

const entriesIn = (path: string): Promise<Dirent[]> =>
  new Promise((resolve, reject) =>
    readdir(path, { withFileTypes: true }, (error, entries) => (error === null ? resolve(entries) : reject(error))),
  )

const removed = (entries: readonly Entry[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const next = (at: number): void => {
      const entry = entries[at]
      if (entry === undefined) return resolve()
      const { path, isDirectory } = entry
      ;(isDirectory ? rmdir : unlink)(path, (error) => (error === null ? next(at + 1) : reject(error)))
    }
    next(0)
  })
