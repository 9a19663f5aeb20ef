import type { Digest } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { OutputDirectory, OutputFile, OutputSymlink } from '../../model/action-result.ts'
import type { CommandTask, TaskAction } from '../../model/command-task.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { treeToProto } from '../../wire/reapi/directory.ts'
import { STREAMS_FOLDER } from '../../wire/tasks/command-task-rules.ts'
import { checkedPath } from '../rooms/checked-path.ts'
import { outputInMemory } from './blob-target.ts'
import { directoryOfAll, type EncodedTree, encodeTree, parentsFirst } from './directory-messages.ts'
import {
  addBlob,
  countNodes,
  type Found,
  type FoundDirectory,
  type GatherRules,
  newGathering,
  type OutputGathering,
  type OutputRules,
  take,
} from './gather-outputs.ts'
import { matchingNodes } from './matching-nodes.ts'
import {
  type Collected,
  type CollectRequest,
  NO_OUTPUTS,
  type OutputCollector,
  type TaskOutputs,
} from './output-collector.ts'
import { type Node, RoomFiles } from './room-files.ts'

export interface CollectOptions {
  readonly bulk: BulkPool
  readonly rules: OutputRules
}

export const outputCollector = (options: CollectOptions): OutputCollector => ({
  collect: (order, signal) => collectOutputs(order, options, signal),
})

/** Implements `OutputCollector`. */
export async function collectOutputs(
  order: CollectRequest,
  options: CollectOptions,
  signal: AbortSignal,
): Promise<Collected> {
  if (asksForNothing(order.task)) return { outputs: NO_OUTPUTS, blobs: [] }
  try {
    return await gathered(order, options, signal)
  } catch (error) {
    const isTasks = error instanceof FaultError && error.fault.kind === 'invalid'
    if (!isTasks || order.task.action !== undefined) throw error
    return { outputs: { ...NO_OUTPUTS, problem: error.message }, blobs: [] }
  }
}

const asksForNothing = ({ outputs: { paths, globs }, action }: CollectRequest['task']): boolean =>
  paths.length + globs.length === 0 &&
  (action === undefined || action.outputFiles.length + action.outputDirectories.length === 0)

async function gathered(
  { task, root }: CollectRequest,
  { bulk, rules }: CollectOptions,
  signal: AbortSignal,
): Promise<Collected> {
  const { fn, action, outputs: wanted, places } = task
  const mostBytes = Math.min(rules.mostBytes, wanted.mostBytes)
  const files = new RoomFiles(root, places)
  const limits = { ...rules, mostBytes }
  const gathering = newGathering({ fn, files, bulk, rules: limits, wanted: rulesOf(task), signal })
  const start = checkedPath(task.workingDirectory, 'working directory')
  const outputs =
    action === undefined ? await merged(gathering, wanted, start) : await separate(gathering, { action, wanted, start })
  return { outputs, blobs: [...gathering.blobs.values()] }
}

const MOST_PATH_CHARS = 1024 * 1024

const rulesOf = ({ action, outputs: { mostFiles, symlinks } }: CollectRequest['task']): GatherRules =>
  action === undefined
    ? { mostFiles, mostPathChars: MOST_PATH_CHARS, symlinks, properties: [], reserved: STREAMS_FOLDER }
    : { mostFiles, mostPathChars: UNLIMITED, symlinks: 'as-is', properties: action.properties, reserved: undefined }

const UNLIMITED = Number.POSITIVE_INFINITY

/** Lists all files and symlinks under their full paths, and encodes one Directory that contains them all. */
async function merged(at: OutputGathering, wanted: CommandTask['outputs'], start: string): Promise<TaskOutputs> {
  for (const path of wanted.paths) {
    const node = at.files.look(checkedPath(path, 'output', start))
    if (node !== undefined) await take(at, { path, node })
  }
  if (wanted.globs.length > 0)
    for await (const { path, node } of matchingNodes(wanted.globs, start, at)) await take(at, { path, node })
  const found = [...at.found].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    ...NO_OUTPUTS,
    outputFiles: found.flatMap(([path, node]) => (node.kind === 'file' ? [fileOf(path, node)] : [])),
    outputSymlinks: found.flatMap(([path, node]) => (node.kind === 'symlink' ? [symlinkOf(path, node)] : [])),
    outputsRoot: found.length === 0 ? undefined : storedTree(at, encodeTree(directoryOfAll(at.found), at.fn)),
  }
}

/** The kind of node that the client requests at a path. Clients since REAPI 2.1 accept any kind. */
type Expected = 'any' | 'file' | 'directory'

interface Separate {
  readonly action: TaskAction
  readonly wanted: CommandTask['outputs']
  readonly start: string
}

/** Lists each path that the client named, in the form of the Remote Execution API: a file, a directory or a symlink. */
async function separate(at: OutputGathering, { action, wanted, start }: Separate): Promise<TaskOutputs> {
  const asked = new Map<string, Expected>([
    ...wanted.paths.map((path): [string, Expected] => [path, 'any']),
    ...action.outputFiles.map((path): [string, Expected] => [path, 'file']),
    ...action.outputDirectories.map((path): [string, Expected] => [path, 'directory']),
  ])
  const into: Growing = {
    outputFiles: [],
    outputDirectories: [],
    outputSymlinks: [],
    legacyFileSymlinks: [],
    legacyDirectorySymlinks: [],
  }
  const add = async (path: string, node: Node, expected: Expected): Promise<void> => {
    mustBe(expected, path, kindOf(node, at))
    const found = await take(at, { path, node })
    if (found.kind === 'file') into.outputFiles.push(fileOf(path, found))
    else if (found.kind === 'directory') into.outputDirectories.push(outputDirectory(at, { path, found, action }))
    else addSymlink(into, symlinkOf(path, found), { expected, leadsTo: kindOf(node, at) })
  }
  for (const [path, expected] of asked) {
    countNodes(at, 1)
    const node = at.files.look(checkedPath(path, 'output', start))
    if (node !== undefined) await add(path, node, expected)
  }
  for await (const { path, node } of matchingNodes(wanted.globs, start, at))
    if (!asked.has(path)) await add(path, node, 'any')
  return { ...into, outputsRoot: undefined, problem: undefined }
}

type Growing = {
  readonly [K in Exclude<keyof TaskOutputs, 'outputsRoot' | 'problem'>]: TaskOutputs[K][number][]
}

/**
 * The kind of the node. For a symlink, the kind of its target; undefined when the target does not exist or is outside
 * the room.
 */
const kindOf = (node: Node, { files }: OutputGathering): 'file' | 'directory' | undefined =>
  node.kind === 'symlink' ? files.targetKind(node.real) : node.kind

function mustBe(expected: Expected, path: string, kind: 'file' | 'directory' | undefined): void {
  if (expected !== 'any' && kind !== undefined && kind !== expected)
    throw invalid(`the output ${JSON.stringify(path.slice(0, 200))} was to be a ${expected} and is a ${kind}`)
}

interface SymlinkUse {
  readonly expected: Expected
  readonly leadsTo: 'file' | 'directory' | undefined
}

/** Symlinks are reported in `output_symlinks`, and in the older fields for clients that only know those. */
function addSymlink(into: Growing, symlink: OutputSymlink, { expected, leadsTo }: SymlinkUse): void {
  if (expected === 'any') into.outputSymlinks.push(symlink)
  const isDirectory = (expected === 'any' ? leadsTo : expected) === 'directory'
  ;(isDirectory ? into.legacyDirectorySymlinks : into.legacyFileSymlinks).push(symlink)
}

const fileOf = (path: string, { digest, executable, properties }: Extract<Found, { kind: 'file' }>): OutputFile => ({
  path,
  digest,
  executable,
  contents: undefined,
  properties,
})

const symlinkOf = (path: string, { target, properties }: Extract<Found, { kind: 'symlink' }>): OutputSymlink => ({
  path,
  target,
  properties,
})

interface DirectoryRequest {
  readonly path: string
  readonly found: FoundDirectory
  readonly action: TaskAction
}

/** A directory in the format that the client requests: one Tree, a Directory message for each level, or both. */
function outputDirectory(at: OutputGathering, { path, found, action }: DirectoryRequest): OutputDirectory {
  const { directoryFormat: format } = action
  const tree = encodeTree(found, at.fn)
  const rootDigest = format === 'tree' ? undefined : storedTree(at, tree)
  const hasTree = format !== 'directories'
  const bytes = hasTree ? treeToProto({ root: tree.root.directory, children: parentsFirst(tree) }) : undefined
  const treeDigest = bytes && digestOf(at.fn, bytes)
  if (treeDigest !== undefined && bytes !== undefined) addBlob(at, outputInMemory(treeDigest, bytes))
  return { path, treeDigest, topologicallySorted: hasTree, rootDigest }
}

/** Adds the Directory messages to the blobs, and returns the digest of the root. */
function storedTree(at: OutputGathering, { root, below }: EncodedTree): Digest {
  for (const { digest, bytes } of [...below.values(), root]) addBlob(at, outputInMemory(digest, bytes))
  return root.digest
}
