/** Writes an index to a journal in memory, and reads it back. */
import { BlobIndex } from '../../src/storage/index/blob-index.ts'
import { JOURNAL_UNIT_BYTES, JournalWriter } from '../../src/storage/index/journal-format.ts'
import { loadJournal } from '../../src/storage/index/journal-loader.ts'
import { tagOf } from '../../src/storage/index/tag.ts'
import { Digests } from './digests.ts'
import { cpuTimed } from './stopwatch.ts'

export interface Reload {
  readonly blobs: number
  readonly writeMs: number
  readonly loadMs: number
  /** The time without a hint about the number of blobs. */
  readonly surprisedMs: number
}

const RECORDS_AT_A_TIME = 20_000
const TAG = tagOf(0, 'sha256')

export function reload(blobs: number): Reload {
  const index = filled(blobs)
  const chunks: Uint8Array[] = []
  const writeMs = cpuTimed(() => writeJournal(index, chunks))
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return {
    blobs,
    writeMs,
    loadMs: timeLoading(chunks, blobs, Math.ceil(bytes / JOURNAL_UNIT_BYTES)),
    surprisedMs: timeLoading(chunks, blobs, 0),
  }
}

function filled(blobs: number): BlobIndex {
  const index = new BlobIndex({ expected: blobs })
  const digest = new Digests(1)
  for (let i = 0; i < blobs; i++) {
    digest.set(0, i)
    const size = digest.sizes[0] as number
    const location = { pack: i >>> 16, offset: i & 0xffff, storedBytes: size, flags: 0 }
    index.insert(TAG, digest.hashes, 0, digest.width, size, location, 1)
  }
  return index
}

function writeJournal(index: BlobIndex, chunks: Uint8Array[]): void {
  const journal = new JournalWriter()
  for (let next = 0; next !== -1; ) {
    next = index.iterate(next, RECORDS_AT_A_TIME, (record) => journal.put(index, record))
    chunks.push(journal.take())
  }
}

function timeLoading(chunks: readonly Uint8Array[], blobs: number, expected: number): number {
  return cpuTimed(() => {
    const index = new BlobIndex({ expected })
    const end = loadJournal(chunks, index, 2)
    if (index.count !== blobs || end.tornBytes !== 0) throw new Error(`${index.count} of ${blobs} blobs came back`)
  })
}
