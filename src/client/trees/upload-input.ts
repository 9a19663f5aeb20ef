import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory, FileNode } from '../../model/directory.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import type { Uploader } from '../cas/cas-upload.ts'
import { bufferBlob, type LocalBlob } from '../cas/local-blob.ts'
import { ignoredFiles } from './ignored-files.ts'
import { sendDirectory } from './local-tree.ts'

export interface UploadedInputs {
  readonly root: Digest
  /** Every directory of it, by its path from the root, which is ''. */
  readonly directories: ReadonlyMap<string, Directory>
}

export interface Inputs {
  /** A directory of this machine; undefined for no inputs. */
  readonly input: string | undefined
  /** Send what .gitignore and .windlassignore leave out, too. */
  readonly allFiles: boolean
  /** The standard input of the command; undefined for none. */
  readonly stdin: LocalBlob | undefined
}

/** The command line of a task has no standard input of its own (REAPI, Command): it comes as a file of this name. */
export const STDIN_FILE = '.windlass-stdin'

/** Sends a directory of this machine, or an empty one, as the tree of inputs. */
export async function uploadInput(
  { input: path, allFiles, stdin }: Inputs,
  { fn, uploads }: { readonly fn: DigestFunction; readonly uploads: Uploader },
): Promise<UploadedInputs> {
  const directories = new Map<string, Directory>()
  const extra = stdin === undefined ? [] : [fileNode(stdin)]
  if (stdin !== undefined) await uploads.add(stdin)
  if (path === undefined) return await uploadAlone(extra, { fn, uploads })
  await mustBeDirectory(path)
  const ignored = allFiles ? undefined : await ignoredFiles(path)
  const root = await sendDirectory(path, {
    fn,
    blob: uploads.add,
    extra,
    seen() {},
    listed: (at, directory) => void directories.set(relative(path, at), directory),
    ...ignored,
  })
  return { root, directories }
}

const fileNode = ({ digest }: LocalBlob): FileNode => ({
  ...{ name: STDIN_FILE, digest, executable: false, properties: undefined },
})

async function uploadAlone(
  files: readonly FileNode[],
  { fn, uploads }: { readonly fn: DigestFunction; readonly uploads: Uploader },
): Promise<UploadedInputs> {
  const directory: Directory = { files, directories: [], symlinks: [], properties: undefined }
  const bytes = directoryToProto(directory)
  const root = digestOf(fn, bytes)
  await uploads.add(bufferBlob('the inputs', root, bytes))
  return { root, directories: new Map([['', directory]]) }
}

async function mustBeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new FaultError({ kind: 'invalid', what: `--input: there is no directory ${path}` }, error)
  })
  if (!found.isDirectory()) throw new FaultError({ kind: 'invalid', what: `--input: ${path} is not a directory` })
}
