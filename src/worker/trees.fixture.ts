import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest } from '../base/digest.ts'
import { digestListOf } from '../base/digest-list.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { Directory } from '../model/directory.ts'
import type { NodeProperties } from '../model/node-properties.ts'
import type { BlobStore } from '../storage/blob-store.ts'
import { directoryToProto } from '../wire/reapi/directory.ts'

export type TreeSpec = { readonly [name: string]: string | Uint8Array | NodeSpec | TreeSpec }

/** For nodes that are not plain files; a symbol, so that it cannot equal a file name. */
const NODE = Symbol('node')
interface NodeSpec {
  readonly [NODE]: {
    readonly link?: string
    readonly run?: string
    readonly file?: string
    readonly properties?: NodeProperties
  }
}

export const link = (target: string): NodeSpec => ({ [NODE]: { link: target } })
export const program = (text: string): NodeSpec => ({ [NODE]: { run: text } })
export const fileWith = (file: string, properties: NodeProperties): NodeSpec => ({ [NODE]: { file, properties } })

export async function putBlob(store: BlobStore, content: string | Uint8Array): Promise<Digest> {
  const bytes = Buffer.from(content)
  const digest = digestOf('sha256', bytes)
  await store.writeMany(digestListOf('sha256', [digest]), [bytes])
  return digest
}

/** Stores a tree as Directory messages; returns the root's digest. */
export async function putTree(store: BlobStore, spec: TreeSpec): Promise<Digest> {
  const directory: { -readonly [K in 'files' | 'directories' | 'symlinks']: Directory[K][number][] } = {
    files: [],
    directories: [],
    symlinks: [],
  }
  for (const [name, value] of Object.entries(spec)) {
    if (typeof value === 'string' || value instanceof Uint8Array) {
      directory.files.push({ name, digest: await putBlob(store, value), executable: false, properties: undefined })
      continue
    }
    const node = (value as NodeSpec)[NODE]
    if (node === undefined) directory.directories.push({ name, digest: await putTree(store, value as TreeSpec) })
    else if (node.link !== undefined) directory.symlinks.push({ name, target: node.link, properties: node.properties })
    else {
      const digest = await putBlob(store, node.run ?? node.file ?? '')
      directory.files.push({ name, digest, executable: node.run !== undefined, properties: node.properties })
    }
  }
  return await putBlob(store, directoryToProto({ ...directory, properties: undefined }))
}

/** A folder without symlinks in its path, deleted at the end of the block. */
export function scratch(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-worker-')))
  chmodSync(path, 0o711) // commands of another user must be able to enter it
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
