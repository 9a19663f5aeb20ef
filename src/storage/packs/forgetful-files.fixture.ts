import type { Random } from '../../testing/random-source.ts'
import type { DataFile, FileLayer } from './file-layer.ts'

/**
 * Files in memory that separate written from synced data, as a disk with a write cache does. After a power cut, every
 * write since a file's last sync is kept, lost or torn (a prefix, or some of its 512-byte blocks), and every name
 * created, renamed or removed since its folder's last sync is in its old or new state. Writes can also be made to fail
 * like those of a full or broken disk.
 */
export interface ForgetfulFiles extends FileLayer {
  /** The number of writes so far. */
  readonly writes: number
  /** Cuts the power at that write: it and every later one throws. */
  cutAtWrite(number: number): void
  /** The files after a power cut. */
  afterCut(random: Random): ForgetfulFiles
  /** The files after a crash of the process only. */
  afterKill(): ForgetfulFiles
  /** From now on, writes beyond this total size throw this error, after writing the part that fits. */
  limit(bytes: number, code?: 'ENOSPC' | 'EIO'): void
  /** Makes syncs fail while true. */
  failSyncs: boolean
  /** The bytes of a file, which a test may damage. */
  bytesOf(path: string): Buffer | undefined
  paths(): string[]
}

interface Write {
  readonly at: number
  readonly bytes: Buffer | 'truncate'
}

class Content {
  synced = Buffer.alloc(0)
  current = Buffer.alloc(0)
  length = 0
  pending: Write[] = []

  write(at: number, bytes: Buffer): void {
    this.pending.push({ at, bytes })
    this.length = Math.max(this.length, at + bytes.length)
    this.current = withBytes(this.current, at, bytes)
  }

  truncate(at: number): void {
    this.pending.push({ at, bytes: 'truncate' })
    this.current = Buffer.from(this.current.subarray(0, at))
  }

  sync(): void {
    this.synced = Buffer.from(this.current)
    this.pending = []
  }
}

class PowerCut extends Error {}

const codeError = (code: string): Error => Object.assign(new Error(code), { code })

export function forgetfulFiles(start: Map<string, Content> = new Map()): ForgetfulFiles {
  /** The current names, and the names at the last sync of their folder. */
  const names = new Map(start)
  const syncedNames = new Map(start)
  const folders = new Set<string>([''])
  let writes = 0
  let cutAt = Number.POSITIVE_INFINITY
  let maxBytes = Number.POSITIVE_INFINITY
  let failure: 'ENOSPC' | 'EIO' = 'ENOSPC'
  for (const path of start.keys()) for (const folder of foldersOf(path)) folders.add(folder)

  const used = () => [...new Set(names.values())].reduce((sum, { current }) => sum + current.length, 0)
  const act = (): void => {
    writes++
    if (writes >= cutAt) throw new PowerCut('the power is gone')
  }
  const found = (path: string): Content => {
    const content = names.get(path)
    if (content === undefined) throw codeError('ENOENT')
    return content
  }

  const dataFile = (content: Content): DataFile => ({
    size: () => content.current.length,
    readSync: (into, bytes, position) => content.current.copy(into, 0, position, position + bytes),
    read: async (into, position) => content.current.copy(into, 0, position, position + into.length),
    async write(pieces, position) {
      const bytes = Buffer.concat(pieces)
      await Promise.resolve()
      if (writes + 1 >= cutAt && writes < cutAt) content.write(position, bytes)
      act()
      const room = maxBytes - used()
      const grows = position + bytes.length - content.current.length
      if (grows > room) {
        content.write(position, bytes.subarray(0, Math.max(0, bytes.length - (grows - Math.max(0, room)))))
        throw codeError(failure)
      }
      content.write(position, bytes)
    },
    async sync() {
      await Promise.resolve()
      act()
      if (layer.failSyncs) throw codeError('EIO')
      content.sync()
    },
    async truncate(bytes) {
      act()
      content.truncate(bytes)
    },
    close() {},
  })

  const layer: ForgetfulFiles = {
    failSyncs: false,
    get writes() {
      return writes
    },
    cutAtWrite(number) {
      cutAt = number
    },
    limit(bytes, code = 'ENOSPC') {
      maxBytes = bytes
      failure = code
    },
    bytesOf: (path) => names.get(path)?.current,
    paths: () => [...names.keys()],
    afterKill: () => forgetfulFiles(new Map(names)),
    afterCut(random) {
      const survived = new Map<string, Content>()
      for (const path of new Set([...names.keys(), ...syncedNames.keys()])) {
        const before = syncedNames.get(path)
        const now = names.get(path)
        const kept = before === now || random.chance(0.5) ? now : before
        if (kept !== undefined) survived.set(path, kept)
      }
      return forgetfulFiles(new Map([...survived].map(([path, content]) => [path, remains(content, random)])))
    },
    lock: () => () => {},
    open(path, mode) {
      if (mode === 'existing') return dataFile(found(path))
      act()
      if (names.has(path)) throw codeError('EEXIST')
      const content = new Content()
      names.set(path, content)
      return dataFile(content)
    },
    sizeOf: (path) => found(path).current.length,
    makeFolder(path) {
      for (const folder of foldersOf(`${path}/x`)) folders.add(folder)
    },
    list(folder) {
      const inside = [...names.keys(), ...folders].filter((path) => path !== folder && parentOf(path) === folder)
      return inside.map((path) => path.slice(folder === '' ? 0 : folder.length + 1))
    },
    async rename(from, to) {
      act()
      const content = found(from)
      names.delete(from)
      names.set(to, content)
    },
    async unlink(path) {
      act()
      found(path)
      names.delete(path)
    },
    async syncFolder(path) {
      act()
      for (const name of new Set([...names.keys(), ...syncedNames.keys()])) {
        if (parentOf(name) !== path) continue
        const content = names.get(name)
        if (content === undefined) syncedNames.delete(name)
        else syncedNames.set(name, content)
      }
    },
  }
  return layer
}

/** A possible content after a power cut: each write since the last sync is whole, torn or lost. */
function remains({ synced, pending }: Content, random: Random): Content {
  let bytes = Buffer.from(synced)
  for (const { at, bytes: written } of pending) {
    const fate = random.below(4)
    if (written === 'truncate') {
      if (fate > 1) bytes = Buffer.from(bytes.subarray(0, at))
    } else if (fate === 0) bytes = withBytes(bytes, at, written)
    else if (fate === 1) bytes = withBytes(bytes, at, written.subarray(0, random.below(written.length + 1)))
    else if (fate === 2) {
      for (let from = 0; from < written.length; from += 512) {
        if (random.chance(0.5)) bytes = withBytes(bytes, at + from, written.subarray(from, from + 512))
      }
    }
  }
  const content = new Content()
  content.synced = bytes
  content.current = Buffer.from(bytes)
  return content
}

function withBytes(old: Buffer, at: number, bytes: Uint8Array): Buffer<ArrayBuffer> {
  const next = Buffer.alloc(Math.max(old.length, at + bytes.length))
  next.set(old)
  next.set(bytes, at)
  return next
}

const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

const foldersOf = (path: string): string[] => {
  const parent = parentOf(path)
  return parent === '' ? [''] : [parent, ...foldersOf(parent)]
}
