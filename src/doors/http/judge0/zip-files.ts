import { promisify } from 'node:util'
import { crc32, type InputType, inflateRaw, type ZlibOptions } from 'node:zlib'
import { invalid } from '../../../base/fault.ts'
import type { SnippetFile } from '../../../model/snippet.ts'

/**
 * Reads the files of a client's zip archive by the directory at its end (APPNOTE.TXT 4.3). No value in it is trusted:
 * neither sizes (one limit applies to all files together), nor offsets, nor checksums. Names are checked when the files
 * are placed. Throws `invalid`.
 */
export interface ZipLimits {
  readonly mostFiles: number
  /** Limit for all files together, unpacked. */
  readonly mostBytes: number
}

const END_SIGNATURE = 0x06054b50
const END_BYTES = 22
const ENTRY_SIGNATURE = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL_SIGNATURE = 0x04034b50
const LOCAL_BYTES = 30
const STORED = 0
const DEFLATED = 8
const ENCRYPTED_FLAG = 1
/** The type bits of a file's mode, in archives made on Unix: only plain files are accepted. */
const SYMLINK = 0o120000
const TYPE_BITS = 0o170000

const inflate: (bytes: InputType, options: ZlibOptions) => Promise<Buffer> = promisify(inflateRaw)

export async function zipFiles(archive: Buffer, { mostFiles, mostBytes }: ZipLimits): Promise<SnippetFile[]> {
  const entries = entriesOf(archive, mostFiles)
  // In a valid archive no files share bytes. An archive with shared bytes would unpack the same data many times.
  if (entries.reduce((sum, { packedBytes }) => sum + packedBytes, 0) > archive.length) throw broken()
  const files: SnippetFile[] = []
  let left = mostBytes
  for (const entry of entries) {
    if (entry.name.endsWith('/')) continue
    const contents = await unpacked(archive, entry, left)
    left -= contents.length
    files.push({ name: entry.name, contents })
  }
  return files
}

interface Entry {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly mode: number
  readonly at: number
}

function entriesOf(archive: Buffer, mostFiles: number): Entry[] {
  const end = endOf(archive)
  const count = archive.readUInt16LE(end + 10)
  if (count > mostFiles) throw invalid(`the archive has more than ${mostFiles} files`)
  const entries: Entry[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > archive.length || archive.readUInt32LE(at) !== ENTRY_SIGNATURE) throw broken()
    const nameEnd = at + ENTRY_BYTES + archive.readUInt16LE(at + 28)
    if (nameEnd > archive.length) throw broken()
    entries.push({
      name: archive.toString('utf8', at + ENTRY_BYTES, nameEnd),
      flags: archive.readUInt16LE(at + 8),
      method: archive.readUInt16LE(at + 10),
      crc: archive.readUInt32LE(at + 16),
      packedBytes: archive.readUInt32LE(at + 20),
      bytes: archive.readUInt32LE(at + 24),
      mode: archive.readUInt16LE(at + 40),
      at: archive.readUInt32LE(at + 42),
    })
    at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

/** A comment of up to 65535 bytes may follow it. */
function endOf(archive: Buffer): number {
  const last = archive.length - END_BYTES
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    const isEnd =
      archive.readUInt32LE(at) === END_SIGNATURE && at + END_BYTES + archive.readUInt16LE(at + 20) === archive.length
    if (isEnd) return at
  }
  throw invalid('it is not a zip archive')
}

async function unpacked(archive: Buffer, entry: Entry, most: number): Promise<Buffer> {
  const { name, flags, method, packedBytes, bytes, crc, mode, at } = entry
  const shown = JSON.stringify(name.slice(0, 200))
  if ((flags & ENCRYPTED_FLAG) !== 0) throw invalid(`${shown} in the archive is encrypted`)
  if ((mode & TYPE_BITS) === SYMLINK) throw invalid(`${shown} in the archive is a symlink`)
  if (method !== STORED && method !== DEFLATED)
    throw invalid(`${shown} in the archive has an unsupported compression method`)
  if (bytes > most) throw tooLarge()
  if (at + LOCAL_BYTES > archive.length || archive.readUInt32LE(at) !== LOCAL_SIGNATURE) throw broken()
  const from = at + LOCAL_BYTES + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28)
  if (from + packedBytes > archive.length) throw broken()
  const packed = archive.subarray(from, from + packedBytes)
  const contents = method === STORED ? packed : await inflated(packed, bytes)
  if (contents.length !== bytes || crc32(contents) !== crc) throw broken()
  return contents
}

/** Never produces more bytes than the directory declares. */
async function inflated(packed: Buffer, bytes: number): Promise<Buffer> {
  try {
    return await inflate(packed, { maxOutputLength: Math.max(1, bytes) })
  } catch {
    throw broken()
  }
}

const broken = () => invalid('the archive is broken')
const tooLarge = () => invalid('the archive is too large when it is unpacked')
