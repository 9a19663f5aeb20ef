import { type Dirent, readdir, rmdir, unlink } from 'node:fs'

/** `removeTree` removes larger directories. */
const SMALL_ENTRIES = 32

/**
 * Removes a directory with at most SMALL_ENTRIES entries, which most commands leave. Returns false when it has more, or
 * when an entry cannot be removed; some entries may be removed then. Callbacks avoid the cost of a promise per entry.
 * Synchronous calls could block for milliseconds while the file system writes its journal.
 */
export async function isRemovedSmall(root: string): Promise<boolean> {
  const all: Entry[] = [{ path: root, isDirectory: true }]
  try {
    for (let next = 0; next < all.length; next++) {
      const { path, isDirectory } = all[next] as Entry
      if (!isDirectory) continue
      for (const entry of await entriesIn(path)) // a symlink is not a directory, whatever it points to
        all.push({ path: `${path}/${entry.name}`, isDirectory: entry.isDirectory() })
      if (all.length > SMALL_ENTRIES) return false
    }
    await removed(all.reverse()) // the entries of a directory before the directory
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
