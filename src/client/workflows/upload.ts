import { realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { DirectoryNode, FileNode } from '../../model/directory.ts'
import { bufferBlob, fileBlob } from '../cas/local-blob.ts'
import type { HttpBlobs } from './blobs.ts'

const EXECUTABLE = 0o111
const FILES_AT_ONCE = 16

export interface UploadedFile {
  readonly digest: Digest
  readonly executable: boolean
}

/** Files and directories of this machine on their way to a server. Links are followed: what they lead to is the data. */
export interface InputUploads {
  file(path: string): Promise<UploadedFile>
  directory(path: string): Promise<Digest>
}

export function inputUploads(blobs: Pick<HttpBlobs, 'put'>): InputUploads {
  const file = async (path: string): Promise<UploadedFile> => {
    const blob = await fileBlob(path, 'sha256')
    await blobs.put(blob)
    return { digest: blob.digest, executable: (statSync(path).mode & EXECUTABLE) !== 0 }
  }
  const directory = async (path: string, around: readonly string[]): Promise<Digest> => {
    const here = [...around, realpathSync(path)]
    const files: FileNode[] = []
    const directories: DirectoryNode[] = []
    const plain: string[] = []
    for (const name of await readdir(path)) {
      const at = join(path, name)
      const stats = statSync(at, { throwIfNoEntry: false })
      // A directory that holds itself, by a link, would have no end.
      if (stats === undefined || (stats.isDirectory() && here.includes(realpathSync(at)))) continue
      if (stats.isDirectory()) directories.push({ name, digest: await directory(at, here) })
      else if (stats.isFile()) plain.push(name)
      else throw new FaultError({ kind: 'invalid', what: `${at} is neither a file nor a directory` })
    }
    for (let from = 0; from < plain.length; from += FILES_AT_ONCE) {
      const some = plain.slice(from, from + FILES_AT_ONCE)
      const sent = await Promise.all(some.map(async (name) => ({ name, ...(await file(join(path, name))) })))
      files.push(...sent.map((one) => ({ ...one, properties: undefined })))
    }
    const { directoryToProto } = await import('../../wire/reapi/directory.ts') // many runs have no files to send
    const bytes = directoryToProto({ files, directories, symlinks: [], properties: undefined })
    const digest = digestOf('sha256', bytes)
    await blobs.put(bufferBlob(path, digest, bytes))
    return digest
  }
  return { file, directory: (path) => directory(path, []) }
}
