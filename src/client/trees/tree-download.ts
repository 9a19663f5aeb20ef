import { chmod, lutimes, mkdir, open, readdir, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import type { CasClient } from '../cas/cas-client.ts'
import { madeBeside } from '../cas/part-path.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { type FileDownload, type FileDownloads, fileDownloads } from './file-downloads.ts'
import { fromBlobs, fromTree, type RemoteDirectory, remoteDirectories, type Trim } from './remote-tree.ts'
import { leadsOut } from './symlink-rule.ts'
import { type MeasuredTree, measureTree, mustFit, TREE_LIMITS, type TreeSizeLimits } from './tree-totals.ts'

/** Permission bits only: a server must not set setuid and setgid. */
const PERMISSIONS = 0o777

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
export async function downloadTree(client: CasClient, wish: TreeDownloadOptions): Promise<TreeCount> {
  await mustBeFree(wish.path)
  return await placeTree(client, await openTree(client, wish), wish)
}

/** The same for a tree that is open. */
export async function placeTree(
  client: CasClient,
  { root, source }: MeasuredTree,
  wish: Omit<TreeDownloadOptions, keyof TreeName> & Pick<TreeName, 'trim'>,
): Promise<TreeCount> {
  return await madeBeside(wish.path, wish.newId(), async (part) => {
    await mkdir(part)
    const tools = { part, wish, files: fileDownloads(client, wish.meter), later: new Later() }
    const count = { files: 0, directories: 0, symlinks: 0 }
    for await (const remote of remoteDirectories(root, source, wish.trim)) {
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
  readonly wish: Pick<TreeDownloadOptions, 'unsafeLinks'>
  readonly files: FileDownloads
  readonly later: Later
}

/** Makes what is in one directory, which is there already. */
async function place({ path, directory }: RemoteDirectory, { part, wish, files, later }: Placing): Promise<void> {
  const inTree = (name: string): string => (path === '' ? name : `${path}/${name}`)
  for (const { name } of directory.directories) await mkdir(join(part, inTree(name))).catch(collided(inTree(name)))
  for (const { name, target, properties } of directory.symlinks) {
    mustBeLink(inTree(name), target, wish.unsafeLinks)
    later.symlinks.push({ path: join(part, inTree(name)), target, properties })
  }
  for (const file of directory.files) await files.add(orderOf(join(part, inTree(file.name)), file))
  if (directory.properties !== undefined) later.directories.push([join(part, path), directory.properties])
}

export function mustBeLink(path: string, target: string, unsafeLinks: boolean): void {
  const isNone = target === '' || target.includes('\0')
  const problem = isNone ? 'leads nowhere' : unsafeLinks ? undefined : leadsOut(path, target)
  if (problem === undefined) return
  const way = isNone ? '' : ' (--unsafe-links makes it nevertheless)'
  throw refused(`the symlink ${quoted(path)} to ${quoted(target)} ${problem}${way}`)
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

/** Work that waits until all files exist. */
class Later {
  readonly symlinks: { path: string; target: string; properties: NodeProperties | undefined }[] = []
  readonly directories: [path: string, properties: NodeProperties][] = []

  async finish(): Promise<void> {
    for (const { path, target, properties } of this.symlinks) {
      await symlink(target, path).catch(collided(path))
      if (properties?.mtime !== undefined) await lutimes(path, ...timesOf(properties))
    }
    // Children first: they need a parent that can be entered, and making them changes its time.
    for (const [path, properties] of this.directories.reverse()) {
      if (properties.mtime !== undefined) await utimes(path, ...timesOf(properties))
      if (properties.unixMode !== undefined) await chmod(path, properties.unixMode & PERMISSIONS)
    }
  }
}

/** As text: a negative number, which is a time before 1970, Node takes for now. */
function timesOf({ mtime }: NodeProperties): [atime: string, mtime: string] {
  const seconds = String((mtime?.seconds ?? 0) + (mtime?.nanos ?? 0) / 1e9)
  return [seconds, seconds]
}

async function mustBeFree(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error.code === 'ENOTDIR' ? refused(`${path} is there already`) : error
  })
  if (names !== undefined && names.length > 0) throw refused(`${path} is there already, and not empty`)
}

/** Two names that this file system takes for one. */
const collided =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EEXIST') throw refused(`${quoted(path)} comes twice on this file system`)
    throw error
  }

const refused = (what: string): FaultError => new FaultError({ kind: 'denied', what })

/** The names come from the server and are printed on a terminal. */
const quoted = (text: string): string => JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text)
