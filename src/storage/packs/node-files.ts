import fs from 'node:fs'
import { join } from 'node:path'
import type { DataFile, FileLayer } from './file-layer.ts'
import { holdFolder } from './folder-lock.ts'

/**
 * Files of this machine, under `root`. Uses raw descriptors and callbacks: a FileHandle costs several times as much.
 */
export function nodeFiles(root: string, pid: number): FileLayer {
  fs.mkdirSync(root, { recursive: true, mode: 0o700 }) // commands of other users must not read the blobs
  const at = (path: string) => join(root, path)
  return {
    lock: () => holdFolder(root, pid),
    open: (path, mode) => dataFile(fs.openSync(at(path), mode === 'new' ? 'wx+' : 'r+')),
    sizeOf: (path) => fs.statSync(at(path)).size,
    makeFolder: (path) => void fs.mkdirSync(at(path), { recursive: true }),
    list: (folder) => fs.readdirSync(at(folder)),
    rename: (from, to) => settled((done) => fs.rename(at(from), at(to), done)),
    unlink: (path) => settled((done) => fs.unlink(at(path), done)),
    async syncFolder(path) {
      const fd = fs.openSync(at(path), 'r')
      try {
        await settled((done) => fs.fsync(fd, done))
      } finally {
        fs.closeSync(fd)
      }
    },
  }
}

const dataFile = (fd: number): DataFile => ({
  size: () => fs.fstatSync(fd).size,
  readSync(into, bytes, position) {
    let have = fs.readSync(fd, into, 0, bytes, position)
    while (have < bytes) {
      const more = fs.readSync(fd, into, have, bytes - have, position + have)
      if (more === 0) break
      have += more
    }
    return have
  },
  async read(into, position) {
    let have = 0
    while (have < into.length) {
      const more = await readOnce(fd, have === 0 ? into : into.subarray(have), position + have)
      if (more === 0) break
      have += more
    }
    return have
  },
  async write(pieces, position) {
    let left = pieces
    let at = position
    while (left.length > 0) {
      const wrote = await writeOnce(fd, left, at)
      at += wrote
      left = withoutFirst(left, wrote)
    }
  },
  sync: () => settled((done) => fs.fdatasync(fd, done)),
  truncate: (bytes) => settled((done) => fs.ftruncate(fd, bytes, done)),
  close: () => fs.closeSync(fd),
})

const readOnce = (fd: number, into: Uint8Array, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.read(fd, into, 0, into.length, position, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })

const writeOnce = (fd: number, pieces: Uint8Array[], position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.writev(fd, pieces, position, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })

/** The bytes that are left after a short write. The kernel writes short before it reports ENOSPC. */
function withoutFirst(pieces: Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes
  let index = 0
  while (index < pieces.length && skip >= (pieces[index] as Uint8Array).length) {
    skip -= (pieces[index] as Uint8Array).length
    index++
  }
  const left = pieces.slice(index)
  if (skip > 0) left[0] = (left[0] as Uint8Array).subarray(skip)
  return left
}

const settled = (start: (done: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    start((error) => (error === null ? resolve() : reject(error)))
  })
