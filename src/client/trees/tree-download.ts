import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import type { CasClient } from '../cas/cas-client.ts'
import { madeBeside } from '../cas/part-path.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { collided, downloadDenied, quotedPath } from './download-faults.ts'
import { type FileDownload, type FileDownloads, fileDownloads } from './file-downloads.ts'
import { LateEntries, PERMISSIONS, timesOf } from './late-entries.ts'
import { fromBlobs, fromTree, type RemoteDirectory, remoteDirectories, type Trim } from './remote-tree.ts'
import { leadsOut } from './symlink-rule.ts'
import { type MeasuredTree, measureTree, mustFit, TREE_LIMITS, type TreeSizeLimits } from './tree-totals.ts'

export interface TreeName {
  /** The digest of a Directory or, when `isTree`, of a Tree. */
  readonly digest: Digest
  readonly isTree: boolean
  readonly limits?: TreeSizeLimits
  /** Selects the entries to leave out. */
  readonly trim?: Trim
}

export interface TreeDownloadOptions extends TreeName {
  /** Must not be there yet, or be an empty directory. */
  readonly path: string
  readonly unsafeLinks: boolean
  readonly newId: () => string
  readonly meter: TransferMeter
}

export interface TreeCount {
  readonly files: number
  readonly directories: number
  readonly symlinks: number
}

/** Reads all directories of a tree, and throws when creating them would exceed the limits. Creates nothing. */
export async function openTree(client: CasClient, { digest, isTree, trim, limits }: TreeName): Promise<MeasuredTree> {
  const { root, source } = isTree ? await fromTree(client, digest) : { root: digest, source: fromBlobs(client) }
  const tree = await measureTree(root, { source, trim, limits: limits ?? TREE_LIMITS })
  mustFit(tree.totals, limits ?? TREE_LIMITS)
  return tree
}

/**
 * Writes a tree of the server to a new local directory. The server is not trusted: names are validated, every file and
 * directory must be new, and symlinks are created last, so that nothing is written through one.
 */
export async function downloadTree(client: CasClient, options: TreeDownloadOptions): Promise<TreeCount> {
  await mustBeFree(options.path)
  return await placeTree(client, await openTree(client, options), options)
}

/** The same for a tree that is open. */
export async function placeTree(
  client: CasClient,
  { root, source }: MeasuredTree,
  options: Omit<TreeDownloadOptions, keyof TreeName> & Pick<TreeName, 'trim'>,
): Promise<TreeCount> {
  return await madeBeside(options.path, options.newId(), async (part) => {
    await mkdir(part)
    const tools = { part, options, files: fileDownloads(client, options.meter), later: new LateEntries() }
    const count = { files: 0, directories: 0, symlinks: 0 }
    for await (const remote of remoteDirectories(root, source, options.trim)) {
      const { files, directories, symlinks } = remote.directory
      count.files += files.length
      count.directories += directories.length
      count.symlinks += symlinks.length
      await place(remote, tools)
    }
    await tools.files.finish()
    await tools.later.finish()
    return count
  })
}

interface Placing {
  readonly part: string
  readonly options: Pick<TreeDownloadOptions, 'unsafeLinks'>
  readonly files: FileDownloads
  readonly later: LateEntries
}

/** Makes what is in one directory, which is there already. */
async function place({ path, directory }: RemoteDirectory, { part, options, files, later }: Placing): Promise<void> {
  const inTree = (name: string): string => (path === '' ? name : `${path}/${name}`)
  for (const { name } of directory.directories) await mkdir(join(part, inTree(name))).catch(collided(inTree(name)))
  for (const { name, target, properties } of directory.symlinks) {
    mustBeLink(inTree(name), target, options.unsafeLinks)
    later.symlinks.push({ path: join(part, inTree(name)), target, properties })
  }
  for (const file of directory.files) await files.add(orderOf(join(part, inTree(file.name)), file))
  if (directory.properties !== undefined) later.directories.push([join(part, path), directory.properties])
}

export function mustBeLink(path: string, target: string, unsafeLinks: boolean): void {
  const isNone = target === '' || target.includes('\0')
  const problem = isNone ? 'leads nowhere' : unsafeLinks ? undefined : leadsOut(path, target)
  if (problem === undefined) return
  const way = isNone ? '' : ' (--unsafe-links creates it anyway)'
  throw downloadDenied(`the symlink ${quotedPath(path)} to ${quotedPath(target)} ${problem}${way}`)
}

type Named = { readonly digest: Digest; readonly executable: boolean; readonly properties: NodeProperties | undefined }

export const orderOf = (path: string, { digest, executable, properties }: Named): FileDownload => ({
  digest,
  async write(pieces) {
    const file = await open(path, 'wx', executable ? 0o777 : 0o666).catch(collided(path))
    try {
      for await (const piece of pieces) await file.writeFile(piece)
      if (properties?.unixMode !== undefined) await file.chmod(properties.unixMode & PERMISSIONS)
      if (properties?.mtime !== undefined) await file.utimes(...timesOf(properties))
    } finally {
      await file.close()
    }
  },
})

async function mustBeFree(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error.code === 'ENOTDIR' ? downloadDenied(`${path} is there already`) : error
  })
  if (names !== undefined && names.length > 0) throw downloadDenied(`${path} is there already, and not empty`)
}
