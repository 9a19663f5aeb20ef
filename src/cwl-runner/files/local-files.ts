import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { invalid } from '../../base/fault.ts'
import type { Entry, Files } from '../../workflow/values/files.ts'
import { escapePath } from '../../workflow/values/uri.ts'
import { rememberedChecksums } from './checksum.ts'
import { isWithin, pathOfAddress } from './file-address.ts'
import { type Sight, sightOf, type VisibleFile } from './sight.ts'

/**
 * The files of this machine. The user may name any file outside the rooms; a file in a room may have been made by a
 * command, and its links are followed only to rooms and to inputs.
 */
export interface LocalFiles extends Files, Sight {}

/** `rooms` is a folder by its real path. */
export function localFiles(rooms: string): LocalFiles {
  const sight = sightOf(rooms)
  const { look } = sight
  const checksum = rememberedChecksums()
  const at = (location: string): (VisibleFile & { readonly path: string }) | undefined => {
    const path = pathOfAddress(location)
    const looked = path === undefined ? undefined : look(path)
    return path === undefined || looked === undefined ? undefined : { path, ...looked }
  }
  return {
    ...sight,
    async stat(location) {
      const found = at(location)
      if (found === undefined) return undefined
      const { size } = found.stats
      if (found.stats.isDirectory()) return { class: 'Directory' }
      // Expressions may read the checksum of a step's output; for inputs it is not computed, because they can be large.
      return isWithin(found.path, rooms)
        ? { class: 'File', size, checksum: await checksum(found) }
        : { class: 'File', size }
    },
    async read(location, limit) {
      const found = at(location)
      if (found === undefined) throw invalid(`${location} is not there`)
      return firstBytes(found.real, Math.min(limit, found.stats.size))
    },
    async list(location) {
      const found = at(location)
      if (found === undefined) throw invalid(`${location} is not there`)
      const folder = location.replace(/\/+$/, '')
      return readdirSync(found.path)
        .sort(byCodePoint)
        .flatMap((basename): readonly Entry[] => {
          const stats = look(`${found.path}/${basename}`)?.stats
          if (stats === undefined) return []
          const entry = { basename, location: `${folder}/${escapePath(basename)}` }
          return [{ class: stats.isDirectory() ? 'Directory' : 'File', ...entry }]
        })
    },
  }
}

/** UTF-16 order differs from code point order beyond the first plane. */
const byCodePoint = (a: string, b: string): number =>
  /[\ud800-\udfff]/.test(a + b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1

function firstBytes(path: string, length: number): Uint8Array {
  const fd = openSync(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(length)
    let got = 0
    for (let more = -1; more !== 0 && got < length; got += more) more = readSync(fd, bytes, got, length - got, got)
    return bytes.subarray(0, got)
  } finally {
    closeSync(fd)
  }
}
