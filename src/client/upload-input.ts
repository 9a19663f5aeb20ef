import { readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Digest, DigestFunction } from '../base/digest.ts'
import { FaultError } from '../base/fault.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { Directory } from '../model/directory.ts'
import type { Uploader } from './cas-upload.ts'
import { type IgnoreRules, ignoreRules } from './ignore-rules.ts'
import { sendDirectory } from './local-tree.ts'

/** Names what is not sent; it is not sent itself. */
const IGNORE_FILE = '.windlassignore'
const MOST_RULE_BYTES = 1024 * 1024

export interface InputTree {
  readonly root: Digest
  /** Every directory of it, by its path from the root, which is ''. */
  readonly directories: ReadonlyMap<string, Directory>
}

/** Sends a directory of this machine, or an empty one, as the tree of inputs. */
export async function uploadInput(
  path: string | undefined,
  { fn, uploads }: { readonly fn: DigestFunction; readonly uploads: Uploader },
): Promise<InputTree> {
  const directories = new Map<string, Directory>()
  if (path === undefined) return { root: digestOf(fn, new Uint8Array()), directories }
  await mustBeDirectory(path)
  const rules = await rulesIn(path)
  const root = await sendDirectory(path, {
    fn,
    blob: uploads.add,
    seen() {},
    listed: (at, directory) => void directories.set(relative(path, at), directory),
    omits(at, isDirectory) {
      const inTree = relative(path, at)
      return inTree === IGNORE_FILE || rules.omits(inTree, isDirectory)
    },
  })
  return { root, directories }
}

async function mustBeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new FaultError({ kind: 'invalid', what: `--input: there is no directory ${path}` }, error)
  })
  if (!found.isDirectory()) throw new FaultError({ kind: 'invalid', what: `--input: ${path} is not a directory` })
}

async function rulesIn(path: string): Promise<IgnoreRules> {
  const file = join(path, IGNORE_FILE)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (text.length <= MOST_RULE_BYTES) return ignoreRules(text)
  throw new FaultError({ kind: 'invalid', what: `${file} is too long to be a list of patterns` })
}
