import type { Dirent } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'

const LEAST_PAUSE_MS = 50
const MOST_PAUSE_MS = 2000
/** A look at a room with many files takes a while, and is taken the more seldom. */
const NAMES_PER_MS = 10
/** No name is for nothing: a disk can also be filled with empty files. */
const LEAST_BYTES = 512
/** Of lstat calls under way. */
const AT_ONCE = 32

export interface DiskWatch {
  readonly folders: readonly string[]
  readonly bytes: number
  /** Of the processes whose open files count, too. */
  readonly pids: () => readonly number[]
  readonly pause: (ms: number) => Promise<void>
  readonly isOver: () => boolean
}

/**
 * Looks at what lies in the folders of a room, and in files that were removed but are still open, until it is too much. Not
 * exact: what is written between two looks is seen at the second. Nothing is changed here and no link is followed, so a room
 * that changes under our eyes can only make the sum wrong, and only its own.
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

  /** What has no name any more goes when it is closed, and takes its space until then. */
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

  /** Who hides files so deep that no path reaches them means to. */
  #unseen({ code }: NodeJS.ErrnoException): undefined {
    if (code === 'ENAMETOOLONG') this.#bytes = Number.POSITIVE_INFINITY
    return undefined
  }
}
