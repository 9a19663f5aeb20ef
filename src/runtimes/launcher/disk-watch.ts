import type { Dirent } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'

const LEAST_PAUSE_MS = 50
const MOST_PAUSE_MS = 2000
/** The pause after a scan is 1 ms per this many names: a room with many files is scanned less often. */
const NAMES_PER_MS = 10
/** Each name counts as at least this many bytes, because empty files fill a disk too. */
const LEAST_BYTES = 512
/** The maximum number of concurrent lstat calls. */
const AT_ONCE = 32

export interface DiskWatch {
  readonly folders: readonly string[]
  readonly bytes: number
  /** Returns the processes whose open files also count. */
  readonly pids: () => readonly number[]
  readonly pause: (ms: number) => Promise<void>
  readonly isOver: () => boolean
}

/**
 * Sums the files in a room's folders, and deleted files that are still open, until the limit is exceeded. The sum is
 * not exact: a scan notices earlier writes late. The scan changes nothing and follows no symlink, so a room that
 * changes during the scan affects only its own sum.
 */
export async function watchDisk({ folders, bytes, pids, pause, isOver }: DiskWatch, full: () => void): Promise<void> {
  for (let names = 0; !isOver(); ) {
    await pause(Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, names / NAMES_PER_MS)))
    if (isOver()) return
    const sum = new DiskSum(bytes)
    for (const folder of folders) await sum.folder(folder)
    await sum.openFiles(pids())
    if (sum.isOver && !isOver()) return full()
    names = sum.names
  }
}

class DiskSum {
  readonly #most: number
  /** Hard links are counted once. */
  readonly #seen = new Set<string>()
  #bytes = 0
  names = 0

  constructor(most: number) {
    this.#most = most
  }

  get isOver(): boolean {
    return this.#bytes > this.#most
  }

  async folder(path: string): Promise<void> {
    const pending: Buffer[] = [Buffer.from(path)]
    for (let next = pending.pop(); next !== undefined && !this.isOver; next = pending.pop()) {
      const here = next
      const entries = await this.#entries(here)
      for (let i = 0; i < entries.length && !this.isOver; i += AT_ONCE) {
        await Promise.all(entries.slice(i, i + AT_ONCE).map((entry) => this.#entry(here, entry, pending)))
      }
    }
  }

  /** A deleted file occupies space until it is closed. */
  async openFiles(pids: readonly number[]): Promise<void> {
    for (const pid of pids) {
      const fds = await readdir(`/proc/${pid}/fd`).catch(() => [])
      for (const fd of fds) {
        const found = await stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined)
        if (found?.isFile() === true && found.nlink === 0) this.#count(found)
        if (this.isOver) return
      }
    }
  }

  async #entry(folder: Buffer, entry: Dirent<Buffer>, pending: Buffer[]): Promise<void> {
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => this.#unseen(error))
    this.names++
    if (found === undefined) return
    this.#count(found)
    if (found.isDirectory()) pending.push(path)
  }

  #entries(path: Buffer): Promise<Dirent<Buffer>[]> {
    return readdir(path, { withFileTypes: true, encoding: 'buffer' }).catch((error: NodeJS.ErrnoException) => {
      this.#unseen(error)
      return []
    })
  }

  #count({ dev, ino, blocks }: { readonly dev: number; readonly ino: number; readonly blocks: number }): void {
    const name = `${dev}:${ino}`
    if (!this.#seen.has(name)) this.#bytes += Math.max(blocks * 512, LEAST_BYTES)
    this.#seen.add(name)
  }

  /** Only a command that does it on purpose makes a path beyond PATH_MAX, so the path counts as exceeding the limit. */
  #unseen({ code }: NodeJS.ErrnoException): undefined {
    if (code === 'ENAMETOOLONG') this.#bytes = Number.POSITIVE_INFINITY
    return undefined
  }
}
