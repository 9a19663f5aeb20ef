/**
 * The files that contain records. There are two kinds, with the same format and a common sequence of numbers. A *pack*
 * contains many blobs and is appended to until it is full. A *solo* contains one large blob and gets its name only when
 * it is complete.
 *
 *   packs/00000007.pack       solo/1f/0000021f.blob       incoming/0000021f (a solo that is being written)
 *
 * Numbers only increase, and a file is never written again once the next pack has begun, so a number always stands for
 * the same bytes. Files are opened when they are first read. When more than `maxOpen` are open, the least recently used
 * ones are closed. A file that is being read stays open, even when it was removed meanwhile.
 */
import { FaultError } from '../../base/fault.ts'
import type { DataFile, FileLayer } from './file-layer.ts'

export const PACKS = 'packs'
export const SOLO = 'solo'
export const INCOMING = 'incoming'

export interface Pack {
  readonly number: number
  readonly isSolo: boolean
  /** Bytes of complete records. After a failed write the file may be longer; the bytes behind `end` are ignored. */
  end: number
  /** Bytes of records that the index points to. */
  live: number
  /** Bytes from the start of the file that survive a power cut. */
  synced: number
  file: DataFile | undefined
  readers: number
  usedAt: number
  removed: boolean
}

const nameOf = (number: number): string => number.toString(16).padStart(8, '0')

export function packPath(number: number, isSolo: boolean): string {
  const name = nameOf(number)
  return isSolo ? `${SOLO}/${name.slice(6)}/${name}.blob` : `${PACKS}/${name}.pack`
}

export const incomingPath = (number: number): string => `${INCOMING}/${nameOf(number)}`

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

export class PackSet {
  readonly #files: FileLayer
  readonly #maxOpen: number
  readonly #packs = new Map<number, Pack>()
  #open = 0
  #uses = 0
  #last = 0
  #bytes = 0

  constructor(files: FileLayer, maxOpen: number) {
    this.#files = files
    this.#maxOpen = maxOpen
  }

  /** The total size of the files. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#packs.size
  }

  all(): IterableIterator<Pack> {
    return this.#packs.values()
  }

  get(number: number): Pack | undefined {
    return this.#packs.get(number)
  }

  nextNumber(): number {
    return ++this.#last
  }

  /** Numbers are never reused: a journal may still refer to them. */
  skipTo(number: number): void {
    this.#last = Math.max(this.#last, number)
  }

  add(number: number, isSolo: boolean, end: number, file?: DataFile): Pack {
    const pack: Pack = {
      number,
      isSolo,
      end,
      live: 0,
      synced: 0,
      file,
      readers: 0,
      usedAt: ++this.#uses,
      removed: false,
    }
    this.#packs.set(number, pack)
    this.skipTo(number)
    this.#bytes += end
    if (file !== undefined) this.#opened()
    return pack
  }

  grow(pack: Pack, bytes: number): void {
    pack.end += bytes
    this.#bytes += bytes
  }

  /** Opens the file when it is not open; the caller handles a missing or unreadable file. */
  fileOf(pack: Pack): DataFile {
    pack.usedAt = ++this.#uses
    if (pack.file !== undefined) return pack.file
    if (pack.removed) throw new FaultError({ kind: 'unavailable', what: `pack ${pack.number} was removed` })
    pack.file = this.#files.open(packPath(pack.number, pack.isSolo), 'existing')
    this.#opened()
    return pack.file
  }

  /** Keeps a file open until it is released. */
  hold(pack: Pack): DataFile {
    const file = this.fileOf(pack)
    pack.readers++
    return file
  }

  release(pack: Pack): void {
    pack.readers--
    if (pack.removed && pack.readers === 0) this.#close(pack)
  }

  async remove(pack: Pack): Promise<void> {
    this.forget(pack)
    await this.#files.unlink(packPath(pack.number, pack.isSolo))
  }

  /** Removes a pack from the set, but not its file. */
  forget(pack: Pack): void {
    if (pack.removed) return
    pack.removed = true
    this.#packs.delete(pack.number)
    this.#bytes -= pack.end
    if (pack.readers === 0) this.#close(pack)
  }

  closeAll(): void {
    for (const pack of this.#packs.values()) this.#close(pack)
  }

  #opened(): void {
    if (++this.#open <= this.#maxOpen) return
    const idle = [...this.#packs.values()].filter(({ file, readers }) => file !== undefined && readers === 0)
    idle.sort((one, other) => one.usedAt - other.usedAt)
    for (const pack of idle.slice(0, Math.ceil(this.#maxOpen / 4))) this.#close(pack)
  }

  #close(pack: Pack): void {
    if (pack.file === undefined) return
    pack.file.close()
    pack.file = undefined
    this.#open--
  }
}
