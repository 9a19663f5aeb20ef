import { lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import type { ActionResult, OutputSymlink } from '../../model/action-result.ts'
import { nodeNameProblem } from '../../model/directory.ts'
import type { CasClient } from '../cas/cas-client.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { downloadDenied, quotedPath } from './download-faults.ts'
import { fileDownloads } from './file-downloads.ts'
import type { Trim } from './remote-tree.ts'
import { mustBeLink, openTree, orderOf, placeTree } from './tree-download.ts'
import { type MeasuredTree, mustFit, sumOf, TREE_LIMITS, type TreeSizeLimits } from './tree-totals.ts'

export interface OutputsOptions {
  readonly result: ActionResult
  /** The paths that were asked for; '' for the whole working directory. */
  readonly requested: ReadonlySet<string>
  /** Made if it is not there. What is in it stays, unless an output has the same name. */
  readonly into: string
  /** The part of the whole working directory to fetch. */
  readonly trim: Trim
  readonly unsafeLinks: boolean
  /** For all outputs together. */
  readonly limits?: TreeSizeLimits
  readonly newId: () => string
  readonly meter: TransferMeter
}

/**
 * Writes the outputs of a command into a local directory. The server is not trusted: only requested paths are accepted,
 * everything is first written to an empty temporary directory and then moved entry by entry, never through a symlink.
 * Conflicts are detected before the first entry is moved. Returns the paths that were written.
 */
export async function downloadOutputs(client: CasClient, options: OutputsOptions): Promise<Set<string>> {
  const { result, into } = options
  const symlinks = symlinksOf(result)
  const paths = [result.outputFiles, result.outputDirectories, symlinks].flatMap((some) => some.map(({ path }) => path))
  mustBeRequested(paths, options.requested)
  const trees = await openTrees(client, options)
  await mkdir(into, { recursive: true })
  const stage = join(into, `.windlass-${options.newId().slice(0, 8)}.part`)
  try {
    await mkdir(stage)
    await fill(stage, client, { ...options, symlinks, trees })
    const moves: Move[] = []
    await plan(stage, into, moves)
    for (const { from, to } of moves) await rename(from, to)
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
  return new Set(paths)
}

/** Under their old names only where the new one is not used: servers fill in both. */
const symlinksOf = (result: ActionResult): readonly OutputSymlink[] =>
  result.outputSymlinks.length > 0
    ? result.outputSymlinks
    : [...result.legacyFileSymlinks, ...result.legacyDirectorySymlinks]

function mustBeRequested(paths: readonly string[], requested: ReadonlySet<string>): void {
  const seen = new Set<string>()
  for (const path of paths) {
    if (!requested.has(path))
      throw downloadDenied(`the server sent the output ${quotedPath(path)}, which was not requested`)
    if (seen.has(path)) throw downloadDenied(`the server sent the output ${quotedPath(path)} twice`)
    seen.add(path)
  }
}

interface OpenTree {
  readonly path: string
  readonly tree: MeasuredTree
  /** Only the whole working directory has inputs in it. */
  readonly trim: { readonly trim?: Trim }
}

/** Reads the directories of all outputs, and throws before anything is created when they are too large together. */
async function openTrees(
  client: CasClient,
  { result, trim, limits = TREE_LIMITS }: OutputsOptions,
): Promise<OpenTree[]> {
  const trees: OpenTree[] = []
  for (const { path, treeDigest, rootDigest } of result.outputDirectories) {
    const digest = treeDigest ?? rootDigest
    if (digest === undefined) continue
    const isTree = treeDigest !== undefined
    const trimmed = path === '' ? { trim } : {}
    trees.push({ path, tree: await openTree(client, { digest, isTree, limits, ...trimmed }), trim: trimmed })
  }
  const files = { entries: result.outputFiles.length, bytes: 0 }
  for (const { digest } of result.outputFiles) files.bytes += digest.size
  mustFit(sumOf([files, ...trees.map(({ tree }) => tree.totals)]), limits)
  return trees
}

interface Filling extends OutputsOptions {
  readonly symlinks: readonly OutputSymlink[]
  readonly trees: readonly OpenTree[]
}

async function fill(stage: string, client: CasClient, options: Filling): Promise<void> {
  const { result, symlinks, trees, unsafeLinks, newId, meter } = options
  for (const { path, tree, trim } of trees) {
    const at = await placeFor(stage, path)
    await placeTree(client, tree, { path: at, unsafeLinks, newId, meter, ...trim })
  }
  const files = fileDownloads(client, meter)
  for (const file of result.outputFiles) await files.add(orderOf(await placeFor(stage, file.path), file))
  await files.finish()
  // Last, so that nothing is written through one.
  for (const { path, target } of symlinks) {
    mustBeLink(path, target, unsafeLinks)
    await symlink(target, await placeFor(stage, path))
  }
}

/** Below the stage, with the directories that lead there. Only paths that we made up ourselves come this far. */
async function placeFor(stage: string, path: string): Promise<string> {
  if (path === '') return stage
  await mkdir(join(stage, dirname(path)), { recursive: true })
  return join(stage, path)
}

interface Move {
  readonly from: string
  readonly to: string
}

/** New entries are moved whole; directories that exist on both sides are merged. */
async function plan(from: string, to: string, moves: Move[]): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const move = { from: join(from, entry.name), to: join(to, entry.name) }
    const there = await lstat(move.to).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (there === undefined || (!entry.isDirectory() && !there.isDirectory())) moves.push(move)
    else if (entry.isDirectory() && there.isDirectory()) await plan(move.from, move.to, moves)
    else
      throw downloadDenied(
        `${move.to} is in the way: it is ${there.isDirectory() ? 'a' : 'no'} directory, unlike the output`,
      )
  }
}

/** The paths of the command line in the spelling that the server gets; paths within others are left out. */
export function outputPaths(given: readonly string[]): readonly string[] {
  const paths = [...new Set(given.map(plainPath))].sort()
  return paths.filter(
    (path) => !paths.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`))),
  )
}

function plainPath(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  const problem = text.startsWith('/') ? 'is absolute' : parts.map(nodeNameProblem).find(Boolean)
  if (problem === undefined) return parts.join('/')
  throw new FaultError({ kind: 'invalid', what: `--output-path: ${quotedPath(text)} ${problem}` })
}
