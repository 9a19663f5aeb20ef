import { invalid } from '../../base/fault.ts'
import { turn } from '../../base/in-turns.ts'
import type { Listing } from '../process/cwl-type.ts'
import type { Version } from '../process/version.ts'
import {
  type DataValue,
  type DirectoryValue,
  type FileValue,
  isDirectory,
  isFile,
  withNames,
} from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import type { Value } from '../values/value.ts'

const CONTENTS_LIMIT = 64 << 10
const DEEPEST = 100
/** As JSON, this many entries exceed the input limit of an expression (cwl.max_json_bytes). */
const MOST_LISTED = 250_000
const DIRECTORIES_A_TURN = 16

/** Adds the first 64 KiB of a file as `contents`. Since v1.2 a longer file is an error; before, it was truncated. */
export async function withContents(file: FileValue, files: Files, version: Version): Promise<FileValue> {
  if (typeof file.contents === 'string') return file
  if (typeof file.location !== 'string') return file
  const bytes = await files.read(file.location, CONTENTS_LIMIT + 1)
  if (bytes.length > CONTENTS_LIMIT && version >= 12) {
    throw invalid(`${String(file.basename ?? file.location)} is larger than 64 KiB, more than loadContents may load`)
  }
  return { ...file, contents: new TextDecoder().decode(bytes.subarray(0, CONTENTS_LIMIT)) }
}

/** Counts the entries of listings. */
export class ListedEntries {
  #count = 0
  #directories = 0

  /**
   * Counts one directory, and sometimes yields, so that other workflows of the thread can run. Throws `invalid` above
   * the limit.
   */
  async add(entries: number): Promise<void> {
    this.#count += entries
    if (this.#count > MOST_LISTED)
      throw invalid(
        `the listings of directories have more than ${MOST_LISTED} entries: set loadListing to shallow_listing or no_listing`,
      )
    if (++this.#directories % DIRECTORIES_A_TURN === 0) await turn()
  }
}

/**
 * Adds a directory's entries as `listing`: none, its own entries, or the whole tree. A few directories can name more
 * entries than fit into memory, if each contains the next one twice. So `count` limits the entries of all listings of
 * one step.
 */
export async function withListing(
  directory: DirectoryValue,
  { files, listing, count = new ListedEntries() }: ListingOptions,
): Promise<DirectoryValue> {
  return listed(directory, { files, listing, count, depth: 0 })
}

export interface ListingOptions {
  readonly files: Files
  readonly listing: Listing
  readonly count?: ListedEntries
}

async function listed(
  directory: DirectoryValue,
  { files, listing, count, depth }: Required<ListingOptions> & { readonly depth: number },
): Promise<DirectoryValue> {
  if (listing === 'no_listing') {
    if (typeof directory.location !== 'string') return directory
    const { listing: _, ...rest } = directory
    return rest as DirectoryValue
  }
  if (depth > DEEPEST) throw invalid(`${String(directory.basename)} nests deeper than ${DEEPEST} levels`)
  const entries = Array.isArray(directory.listing)
    ? (directory.listing as readonly DataValue[])
    : await entriesOf(directory, files)
  await count.add(entries.length)
  const made: Value[] = []
  for (const one of entries) {
    const isDeep = isDirectory(one) && listing === 'deep_listing'
    made.push(isDeep ? await listed(one, { files, listing, count, depth: depth + 1 }) : one)
  }
  return { ...directory, listing: made }
}

async function entriesOf(directory: DirectoryValue, files: Files): Promise<readonly DataValue[]> {
  if (typeof directory.location !== 'string') return []
  const entries = await files.list(directory.location)
  return Promise.all(
    entries.map(async ({ class: kind, basename, location }) => {
      const data = withNames({ class: kind, location, basename } as DataValue)
      const stat = kind === 'File' ? await files.stat(location) : undefined
      const path = typeof directory.path === 'string' ? { path: `${directory.path}/${basename}` } : {}
      return { ...data, ...path, ...(stat?.class === 'File' ? { size: stat.size } : {}) } as DataValue
    }),
  )
}

/** Adds the size and, where it is known without reading, the checksum. */
export async function withSize(file: FileValue, files: Files): Promise<FileValue> {
  if (typeof file.size === 'number' || typeof file.location !== 'string') return file
  const stat = await files.stat(file.location)
  if (stat === undefined) throw invalid(`there is no file at ${file.location}`)
  if (!isFile(file) || stat.class !== 'File') throw invalid(`${file.location} is a directory, not a file`)
  return { ...file, size: stat.size, ...(stat.checksum === undefined ? {} : { checksum: stat.checksum }) }
}
