import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { FaultError, invalid } from '../../base/fault.ts'
import type { RoomPlace } from '../../model/command-task.ts'
import { INSIDE } from '../../runtimes/run/inside.ts'
import { diskFault } from '../rooms/disk-fault.ts'

/**
 * Reads the files that a command left. The worker can read files that the command cannot, so it follows no symlink out
 * of the room, and checks the real path of every opened file. All processes of the room are dead by then, so nothing
 * changes meanwhile.
 */
export type Node =
  | { readonly kind: 'file' | 'directory'; readonly real: string; readonly stats: BigIntStats }
  | { readonly kind: 'symlink'; readonly real: string; readonly stats: BigIntStats; readonly target: string }

/** The limit of Linux. */
const MOST_LINKS = 40
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

export class RoomFiles {
  readonly #root: string
  readonly #places: readonly Pick<RoomPlace, 'path' | 'at'>[]

  /** The path of the root contains no symlinks. Places are further mount points of its parts. */
  constructor(root: string, places: readonly RoomPlace[] = []) {
    this.#root = root
    this.#places = [...places, { path: '', at: INSIDE.room }]
  }

  /** The node at a checked path from the root; undefined when there is none. A symlink at the end is not followed. */
  look(path: string): Node | undefined {
    if (path === '') return this.at(this.#root, path)
    const folder = this.#inside(join(this.#root, dirname(path)), path)
    return folder === undefined ? undefined : this.at(join(folder, basename(path)), path)
  }

  /** The node at a path that is known to contain no symlinks. */
  at(real: string, name: string): Node | undefined {
    const stats = statOf(real, name)
    if (stats === undefined) return undefined
    if (stats.isFile()) return { kind: 'file', real, stats }
    if (stats.isDirectory()) return { kind: 'directory', real, stats }
    if (stats.isSymbolicLink()) return { kind: 'symlink', real, stats, target: targetOf(real, name) }
    throw invalid(`the output ${quoted(name)} is neither a file nor a directory nor a symlink`)
  }

  /** The names in a directory. */
  namesIn(real: string, name: string): string[] {
    try {
      return readdirSync(real, { encoding: 'buffer' }).map((raw) => utf8(raw, name))
    } catch (error) {
      throw readFault(error, name)
    }
  }

  /** The final target of a symlink; undefined when it does not exist or is outside the room. */
  follow(real: string, name: string): Node | undefined {
    try {
      const target = this.#realOf(real)
      return this.#contains(target) ? this.at(target, name) : undefined
    } catch (error) {
      if (error instanceof FaultError) throw error
      return undefined
    }
  }

  /** Returns whether the node is a directory. Other nodes may be of any kind, such as sockets. */
  isDirectory(real: string, name: string): boolean {
    return statOf(real, name)?.isDirectory() === true
  }

  /** The kind of the target of a symlink; undefined when it does not exist or is outside the room. */
  targetKind(real: string): 'file' | 'directory' | undefined {
    try {
      const target = this.#realOf(real)
      if (!this.#contains(target)) return undefined
      const stats = lstatSync(target)
      return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : undefined
    } catch {
      return undefined
    }
  }

  /** Opens a file to read; the caller closes it. */
  open(real: string, name: string): number {
    let fd: number
    try {
      fd = openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch (error) {
      throw readFault(error, name)
    }
    if (fstatSync(fd).isFile() && this.#contains(whereIs(fd) ?? real)) return fd
    closeSync(fd)
    throw invalid(`the output ${quoted(name)} was exchanged while it was read`)
  }

  /** A parent directory may be a symlink whose target is inside the room. */
  #inside(folder: string, path: string): string | undefined {
    try {
      const real = this.#realOf(folder)
      if (this.#contains(real)) return real
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
      throw readFault(error, path)
    }
    throw invalid(`the output ${quoted(path)} lies behind a symlink that leads out of the room`)
  }

  /** Resolves a path in the room. The command saw its room at another path, and its symlinks may use that path. */
  #realOf(path: string): string {
    let at = this.#root
    let rest = partsOf(path.slice(at.length))
    for (let links = 0; rest.length > 0; ) {
      const [name = '', ...more] = rest
      const next = join(at, name)
      if (!lstatSync(next).isSymbolicLink()) {
        at = next
        rest = more
        continue
      }
      const target = this.#outside(readlinkSync(next), at)
      if (!this.#contains(target) || ++links > MOST_LINKS) return realpathSync(next)
      at = this.#root
      rest = [...partsOf(target.slice(at.length)), ...more]
    }
    return at
  }

  /** The target of a symlink in this folder, as a path of this machine. */
  #outside(target: string, folder: string): string {
    const place = this.#places.find(({ at }) => target === at || target.startsWith(`${at}/`))
    if (place === undefined) return resolve(folder, target)
    return resolve(join(this.#root, place.path) + target.slice(place.at.length))
  }

  #contains(real: string): boolean {
    return real === this.#root || real.startsWith(`${this.#root}/`)
  }
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

function statOf(real: string, name: string): BigIntStats | undefined {
  try {
    return lstatSync(real, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw readFault(error, name)
  }
}

/** Throws for a name that is not UTF-8: it would be reported as a different name. */
function utf8(raw: Buffer, name: string): string {
  const text = raw.toString()
  if (!Buffer.from(text).equals(raw)) throw invalid(`in the output ${quoted(name)} there is a name that is not UTF-8`)
  return text
}

const targetOf = (real: string, name: string): string => utf8(readlinkSync(real, { encoding: 'buffer' }), name)

/** The path of an open file, where the kernel reports it. */
function whereIs(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return undefined
  }
}

/** If the owner of a file forbids the worker to read it, another worker cannot read it either. */
function readFault(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM') return invalid(`the output ${quoted(name)} may not be read`)
  return diskFault(error, `the output ${quoted(name)} cannot be read`)
}

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
