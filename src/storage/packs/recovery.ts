/**
 * Makes the index and the packs consistent when the store is opened.
 *
 *   pack   |── synced ──|── journalled ──|── written ──|── torn ──|
 *            trusted      verified, or     verified,     truncated
 *                         dropped          and admitted
 *
 * After a clean close the journal is complete and no pack is read. After an unclean stop, all records behind the synced
 * part are hashed again before the store serves its first call. So the index never contains an unverified blob:
 * `missing` is correct, and reads need not wait. The writer syncs every `syncEveryBytes` (64 MiB by default), so this
 * takes a fraction of a second.
 *
 * A damaged header does not end the scan: the scan searches for the next header, and its blob is verified by its hash.
 * A value of the action cache that was found by searching is ignored, because its name is not its hash: it may be part
 * of the payload of a blob that an attacker made to look like a record.
 */

import type { PackMarks } from '../index/journal-loader.ts'
import { type Catalogue, NONE } from './catalogue.ts'
import type { DataFile, FileLayer } from './file-layer.ts'
import { INCOMING, PACKS, type Pack, type PackSet, packPath, SOLO } from './pack-set.ts'
import { Window } from './pack-walk.ts'
import { PUT, REPLACE } from './pack-writer.ts'
import { isProven, isStreamProven, VALUE_SPACE } from './proof.ts'
import {
  BLOCK_BYTES,
  headerBytes,
  MAGIC_BYTES,
  MAX_HEADER_BYTES,
  type RecordHeader,
  readHeader,
  recordBytes,
  spaceOf,
  UNIT_BYTES,
} from './record-format.ts'

const SEARCH_BYTES = 64 * 1024

export interface TruncationReport {
  readonly pack: number
  /** Undefined when the file is missing. */
  readonly fileBytes: number | undefined
  readonly indexedBytes: number
  readonly lostBlobs: number
}

export interface RecoveryReport {
  /** Bytes that were hashed again. */
  provenBytes: number
  foundBlobs: number
  droppedBlobs: number
  cutBytes: number
  /**
   * More than the tail of the journal is corrupt: all entries behind the corrupt block were restored from the packs.
   */
  isJournalDamaged: boolean
}

type Findings = Omit<RecoveryReport, 'isJournalDamaged'>

export interface RecoveryTools {
  readonly files: FileLayer
  readonly packs: PackSet
  readonly catalogue: Catalogue
}

/** Adds all files to the pack set, and removes incomplete uploads. */
export async function findPacks({ files, packs }: Pick<RecoveryTools, 'files' | 'packs'>): Promise<void> {
  for (const name of files.list(INCOMING)) {
    packs.skipTo(Number.parseInt(name, 16))
    await files.unlink(`${INCOMING}/${name}`)
  }
  const add = (name: string, isSolo: boolean): void => {
    const number = Number.parseInt(name, 16)
    const path = packPath(number, isSolo)
    if (path.endsWith(`/${name}`)) packs.add(number, isSolo, files.sizeOf(path)) // otherwise it is not one of our file names
  }
  for (const name of files.list(PACKS)) add(name, false)
  for (const folder of files.list(SOLO)) for (const name of files.list(`${SOLO}/${folder}`)) add(name, true)
}

/** Drops records whose bytes are missing, and reports the files that are too short or missing. */
export async function settle({ catalogue, packs }: RecoveryTools): Promise<TruncationReport[]> {
  const astray: number[] = []
  const short = new Map<number, TruncationReport>()
  await catalogue.eachRecord(Number.POSITIVE_INFINITY, (record) => {
    const number = catalogue.index.pack(record)
    const pack = packs.get(number)
    const end = catalogue.positionOf(record) + catalogue.bytesOf(record)
    if (pack === undefined || end > pack.end) {
      astray.push(record)
      const { indexedBytes = 0, lostBlobs = 0 } = short.get(number) ?? {}
      const report = { pack: number, fileBytes: pack?.end, indexedBytes: Math.max(indexedBytes, end) }
      short.set(number, { ...report, lostBlobs: lostBlobs + 1 })
    }
    catalogue.enter(record)
  })
  for (const record of astray) catalogue.drop(record)
  return [...short.values()]
}

/** Verifies all records that the journal does not mark as synced, and admits those that it does not contain. */
export async function prove(tools: RecoveryTools, marks: ReadonlyMap<number, PackMarks>): Promise<Findings> {
  const report: Findings = { provenBytes: 0, foundBlobs: 0, droppedBlobs: 0, cutBytes: 0 }
  const doubtful = [...tools.packs.all()]
    .filter(({ synced, end }) => synced < end)
    .sort((one, other) => one.number - other.number)
  const past = await recordsPast(tools, new Set(doubtful))
  for (const pack of doubtful) {
    const file = tools.packs.hold(pack)
    try {
      if (pack.isSolo) await proveSolo(tools, pack, file, report)
      else {
        const proof = new PackProof(tools, pack, file, report)
        const last = (marks.get(pack.number)?.last ?? -1) * UNIT_BYTES
        await proof.run(pack.synced, last, past.get(pack) ?? new Set())
      }
      await file.sync()
      pack.synced = pack.end
    } finally {
      tools.packs.release(pack)
    }
    if (pack.isSolo && pack.live === 0) await tools.packs.remove(pack)
  }
  return report
}

/** The records of the index behind the synced part, by pack. */
async function recordsPast({ catalogue }: RecoveryTools, doubtful: ReadonlySet<Pack>): Promise<Map<Pack, Set<number>>> {
  const past = new Map<Pack, Set<number>>()
  for (const pack of doubtful) past.set(pack, new Set())
  await catalogue.eachRecord(Number.POSITIVE_INFINITY, (record) => {
    const pack = catalogue.packOf(record)
    if (pack !== undefined && catalogue.positionOf(record) >= pack.synced) past.get(pack)?.add(record)
  })
  return past
}

class PackProof {
  readonly #tools: RecoveryTools
  readonly #pack: Pack
  readonly #file: DataFile
  readonly #report: Findings
  readonly #window: Window

  constructor(tools: RecoveryTools, pack: Pack, file: DataFile, report: Findings) {
    this.#tools = tools
    this.#pack = pack
    this.#file = file
    this.#report = report
    this.#window = new Window(file)
  }

  /** `unmet` are the records of the index behind `from`. Records that the scan does not find are dropped. */
  async run(from: number, lastJournalled: number, unmet: Set<number>): Promise<void> {
    let position = from
    let end = from
    let isFound = false // by searching for its magic, not by the length of the previous record
    while (position < this.#pack.end) {
      const header = await this.#headerAt(position)
      if (header === undefined) {
        position = await this.#nextHeader(position + UNIT_BYTES)
        isFound = true
        continue
      }
      const { bytes } = header
      unmet.delete(await this.#prove(position, bytes, position > lastJournalled, isFound))
      position += bytes
      end = position
    }
    for (const record of unmet) this.#drop(record)
    await this.#cut(end)
  }

  /** Returns the record of the index at this position, or NONE. */
  async #prove(position: number, bytes: number, isNew: boolean, isFound: boolean): Promise<number> {
    const { catalogue } = this.#tools
    const buffer = await this.#window.at(position, bytes)
    const header = readHeader(buffer, 0)
    if (header === undefined) return NONE
    const place = { pack: this.#pack.number, unit: position / UNIT_BYTES }
    const known = catalogue.find(header)
    const isHere = known !== NONE && catalogue.isAt(known, place)
    if (!isHere && !isNew && !isFound) return NONE // it existed once and was deleted later
    const isValue = spaceOf(header.tag) === VALUE_SPACE
    if (!isHere && isValue && isFound) return NONE
    const start = headerBytes(header.width)
    this.#report.provenBytes += header.stored
    if (!isProven(header, buffer.subarray(start, start + header.stored))) {
      if (isHere) this.#drop(known)
      return isHere ? known : NONE
    }
    if (isHere) return known
    if (known === NONE) this.#report.foundBlobs++
    if (isValue && known !== NONE) {
      if (await this.#isNewer(header, known)) catalogue.admitHeader(header, place, REPLACE)
    } else catalogue.admitHeader(header, place, PUT)
    return NONE
  }

  async #isNewer(header: RecordHeader, known: number): Promise<boolean> {
    const { catalogue, packs } = this.#tools
    const pack = catalogue.packOf(known)
    if (pack === undefined) return true
    const buffer = Buffer.alloc(MAX_HEADER_BYTES)
    packs.fileOf(pack).readSync(buffer, buffer.length, catalogue.positionOf(known))
    const other = readHeader(buffer, 0)
    if (other === undefined || other.originPack !== header.originPack) {
      return other === undefined || header.originPack > other.originPack
    }
    return header.originUnit > other.originUnit
  }

  #drop(record: number): void {
    this.#tools.catalogue.drop(record)
    this.#report.droppedBlobs++
  }

  async #headerAt(position: number): Promise<{ bytes: number } | undefined> {
    const header = readHeader(await this.#window.at(position, MAX_HEADER_BYTES), 0)
    if (header === undefined) return undefined
    const bytes = recordBytes(header.width, header.stored)
    return position + bytes > this.#pack.end ? undefined : { bytes }
  }

  async #nextHeader(from: number): Promise<number> {
    for (let position = from; position < this.#pack.end; ) {
      const buffer = await this.#window.at(position, SEARCH_BYTES)
      if (buffer.length < MAGIC_BYTES.length) break
      const at = buffer.indexOf(MAGIC_BYTES)
      if (at < 0) position += Math.ceil(buffer.length / UNIT_BYTES) * UNIT_BYTES
      else if (at % UNIT_BYTES === 0) {
        if ((await this.#headerAt(position + at)) !== undefined) return position + at
        position += at + UNIT_BYTES
      } else position += Math.ceil(at / UNIT_BYTES) * UNIT_BYTES
    }
    return this.#pack.end
  }

  /** Truncates behind the last complete record, because the next record must follow it directly. */
  async #cut(end: number): Promise<void> {
    const torn = this.#pack.end - end
    if (torn <= 0) return
    this.#report.cutBytes += torn
    await this.#file.truncate(end)
    this.#tools.packs.grow(this.#pack, -torn)
  }
}

async function proveSolo(tools: RecoveryTools, pack: Pack, file: DataFile, report: Findings): Promise<void> {
  const { catalogue } = tools
  const buffer = Buffer.alloc(MAX_HEADER_BYTES)
  file.readSync(buffer, buffer.length, 0)
  const header = readHeader(buffer, 0)
  const isWhole = header !== undefined && recordBytes(header.width, header.stored) === pack.end
  const place = { pack: pack.number, unit: 0 }
  if (isWhole && (await isStreamProven(header, payloadOf(file, header)))) {
    report.provenBytes += header.stored
    if (catalogue.find(header) === NONE) report.foundBlobs++
    catalogue.admitHeader(header, place, PUT)
    return
  }
  for (const record of await catalogue.recordsIn(pack.number)) {
    catalogue.drop(record)
    report.droppedBlobs++
  }
}

async function* payloadOf(file: DataFile, header: RecordHeader): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(16 * BLOCK_BYTES)
  const start = headerBytes(header.width)
  for (let at = 0; at < header.stored; at += buffer.length) {
    const piece = buffer.subarray(0, Math.min(buffer.length, header.stored - at))
    if ((await file.read(piece, start + at)) < piece.length) return
    yield piece
  }
}
