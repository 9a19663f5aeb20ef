import type { BigIntStats } from 'node:fs'
import { join, posix } from 'node:path'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import type { OutputProperty } from '../../model/command.ts'
import type { SymlinkRule } from '../../model/command-task.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { atOnce } from '../rooms/pacing.ts'
import type { OutputBlob } from './blob-target.ts'
import { outputFile } from './output-file.ts'
import type { Node, RoomFiles } from './room-files.ts'

/** The limits of a worker, for every attempt. */
export interface OutputRules {
  /** The maximum number of files and directories of one attempt's outputs, and of their total bytes. */
  readonly mostNodes: number
  readonly mostBytes: number
  readonly absoluteSymlinks: 'allowed' | 'disallowed'
}

/** The limits of one task, and the form of its outputs. */
export interface GatherRules {
  readonly mostFiles: number
  /** The limit of all paths together, because the result contains a list of them. */
  readonly mostPathChars: number
  /** `as-is`: symlinks stay symlinks, wherever they lead, as in the Remote Execution API. */
  readonly symlinks: SymlinkRule | 'as-is'
  readonly properties: readonly OutputProperty[]
  /** No output may have this name, or lie below it. */
  readonly reserved: string | undefined
}

export type Found =
  | { readonly kind: 'file'; readonly digest: Digest; readonly executable: boolean; readonly properties: Properties }
  | { readonly kind: 'symlink'; readonly target: string; readonly properties: Properties }
  | FoundDirectory

export interface FoundDirectory {
  readonly kind: 'directory'
  readonly children: Map<string, Found>
  readonly properties: Properties
}

type Properties = NodeProperties | undefined

export interface GatherOptions {
  readonly fn: DigestFunction
  readonly files: RoomFiles
  readonly bulk: BulkPool
  readonly rules: OutputRules
  readonly wanted: GatherRules
  readonly signal: AbortSignal
}

/** All outputs gathered so far. */
export interface OutputGathering extends GatherOptions {
  /** Keyed by the reported path. */
  readonly found: Map<string, Found>
  /** Keyed by digest: equal contents are stored once. */
  readonly blobs: Map<string, OutputBlob>
  readonly totals: { nodes: number; files: number; pathChars: number; bytes: bigint }
}

export const newGathering = (options: GatherOptions): OutputGathering => ({
  ...options,
  found: new Map(),
  blobs: new Map(),
  totals: { nodes: 0, files: 0, pathChars: 0, bytes: 0n },
})

export const addBlob = ({ blobs }: OutputGathering, blob: OutputBlob): void =>
  void blobs.set(formatDigest(blob.digest), blob)

export function countNodes({ totals, rules: { mostNodes } }: OutputGathering, more: number): void {
  totals.nodes += more
  if (totals.nodes > mostNodes) throw invalid(`the outputs are more than ${mostNodes} files and directories`)
}

const FILES_AT_ONCE = 8

/**
 * Adds the node at a path, with everything below it. `path` is the reported name, from the working directory. The node
 * may be elsewhere in the room, if a symlink was followed. `within` lists the real directories above it, to detect a
 * directory that contains itself.
 */
export async function take(at: OutputGathering, { path, node, within = [] }: Taking): Promise<Found> {
  const known = at.found.get(path)
  if (known !== undefined) return known
  const { reserved } = at.wanted
  if (reserved !== undefined && (path === reserved || path.startsWith(`${reserved}/`)))
    throw refused(path, 'has a reserved name')
  if (node.kind === 'symlink') return await takeSymlink(at, { path, node, within })
  return node.kind === 'file' ? await takeFile(at, path, node) : await takeDirectory(at, { path, node, within })
}

async function takeFile(at: OutputGathering, path: string, { real, stats }: Node): Promise<Found> {
  const { totals, rules, wanted, files, fn, bulk, signal, found } = at
  countFile(at, path)
  signal.throwIfAborted()
  totals.bytes += stats.size // before reading: a sparse file can claim more bytes than the disk has
  if (totals.bytes > BigInt(rules.mostBytes)) throw invalid(`the outputs have more than ${rules.mostBytes} bytes`)
  const blob = await outputFile({ files, real, name: path, size: Number(stats.size) }, fn, bulk)
  addBlob(at, blob)
  const executable = (stats.mode & 0o111n) !== 0n
  const file = { kind: 'file', digest: blob.digest, executable, properties: propertiesOf(stats, wanted) } as const
  found.set(path, file)
  return file
}

interface Taking {
  readonly path: string
  readonly node: Node
  readonly within?: readonly string[]
}

interface Place<N extends Node> {
  readonly path: string
  readonly node: N
  readonly within: readonly string[]
}

async function takeDirectory(at: OutputGathering, { path, node, within }: Place<Node>): Promise<FoundDirectory> {
  const { files, signal, found, wanted } = at
  const { real, stats } = node
  if (within.includes(real)) throw refused(path, 'contains itself through a symlink')
  signal.throwIfAborted()
  const directory: FoundDirectory = {
    kind: 'directory',
    children: new Map(),
    properties: propertiesOf(stats, wanted),
  }
  found.set(path, directory)
  countPath(at, path)
  const names = files.namesIn(real, path)
  countNodes(at, names.length)
  const inside = (name: string): string => (path === '' ? name : `${path}/${name}`)
  const plain: { readonly name: string; readonly child: Node }[] = []
  for (const name of names) {
    const child = files.at(join(real, name), inside(name))
    if (child?.kind === 'file') plain.push({ name, child })
    else if (child !== undefined)
      directory.children.set(name, await take(at, { path: inside(name), node: child, within: [...within, real] }))
  }
  await atOnce(plain, FILES_AT_ONCE, async ({ name, child }) => {
    directory.children.set(name, await take(at, { path: inside(name), node: child }))
  })
  return directory
}

async function takeSymlink(at: OutputGathering, { path, node, within }: Place<SymlinkNode>): Promise<Found> {
  const { wanted, rules, files, found } = at
  const { target, real, stats } = node
  if (wanted.symlinks === 'refuse') throw refused(path, 'is a symlink')
  if (wanted.symlinks === 'follow') {
    const end = files.follow(real, path)
    if (end === undefined) throw refused(path, 'is a symlink that leads nowhere, or out of the room')
    return await take(at, { path, node: end, within })
  }
  if (wanted.symlinks === 'as-is') mustBeAllowed(path, target, rules)
  else if (leadsOut(path, target)) throw refused(path, 'is a symlink that leads out of the outputs')
  countFile(at, path)
  const symlink = { kind: 'symlink', target, properties: propertiesOf(stats, wanted) } as const
  found.set(path, symlink)
  return symlink
}

type SymlinkNode = Extract<Node, { kind: 'symlink' }>

function leadsOut(path: string, target: string): boolean {
  const end = posix.join(posix.dirname(path), target)
  return target.startsWith('/') || end === '..' || end.startsWith('../')
}

function mustBeAllowed(path: string, target: string, { absoluteSymlinks }: OutputRules): void {
  if (target.startsWith('/') && absoluteSymlinks === 'disallowed') throw refused(path, 'is an absolute symlink')
}

function countFile(at: OutputGathering, path: string): void {
  const { totals, wanted } = at
  if (++totals.files > wanted.mostFiles) throw invalid(`the outputs are more than ${wanted.mostFiles} files`, 'range')
  countPath(at, path)
}

function countPath({ totals, wanted }: OutputGathering, path: string): void {
  totals.pathChars += path.length
  if (totals.pathChars > wanted.mostPathChars) throw invalid('the names of the outputs are too long together', 'range')
}

const SECOND_NS = 1_000_000_000n

/** The node properties that the task requests; undefined when it requests none. */
function propertiesOf(stats: BigIntStats, { properties: wanted }: GatherRules): Properties {
  if (wanted.length === 0) return undefined
  // Rounds towards minus infinity: nanoseconds count forward even before 1970.
  const nanos = ((stats.mtimeNs % SECOND_NS) + SECOND_NS) % SECOND_NS
  const mtime = { seconds: Number((stats.mtimeNs - nanos) / SECOND_NS), nanos: Number(nanos) }
  return {
    named: [],
    mtime: wanted.includes('mtime') ? mtime : undefined,
    unixMode: wanted.includes('unixMode') ? Number(stats.mode & 0o7777n) : undefined,
  }
}

const refused = (path: string, what: string): FaultError =>
  invalid(`the output ${JSON.stringify(path.slice(0, 200))} ${what}`)
