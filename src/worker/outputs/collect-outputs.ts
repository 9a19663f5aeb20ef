import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type { ActionResult, OutputDirectory, OutputFile, OutputSymlink } from '../../model/action-result.ts'
import type { Command } from '../../model/command.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { checkedPath } from '../checked-path.ts'
import type { OutputBlob } from './blob-target.ts'
import { type Collecting, collecting, type OutputRules } from './collecting.ts'
import { filesMatching } from './matching-files.ts'
import { outputDirectory } from './output-directory.ts'
import { isExecutable, propertiesOf } from './output-properties.ts'
import { type Node, RoomFiles } from './room-files.ts'

export type CollectedOutputs = Pick<
  ActionResult,
  'outputFiles' | 'outputDirectories' | 'outputSymlinks' | 'legacyFileSymlinks' | 'legacyDirectorySymlinks'
>

export interface Collected {
  readonly outputs: CollectedOutputs
  /** What they consist of; read from the room, so it must still be there. */
  readonly blobs: readonly OutputBlob[]
}

export interface CollectOptions {
  readonly bulk: BulkPool
  readonly rules: OutputRules
}

export interface CollectOrder {
  readonly command: Command
  /** Of the room, without symlinks in it. */
  readonly root: string
  readonly fn: DigestFunction
}

/** What was asked of a path: anything at all, or one of the two that older clients tell apart. */
type Expected = 'any' | 'file' | 'directory'

/**
 * Gathers what a command was to make, as the Remote Execution API has it: what is not there is left out, symlinks stay
 * symlinks, and a directory in the place of a file is the fault of who asked.
 */
export async function collectOutputs(
  order: CollectOrder,
  { bulk, rules }: CollectOptions,
  signal: AbortSignal,
): Promise<Collected> {
  const { command, root, fn } = order
  const { outputs } = command
  const files = new RoomFiles(root)
  const parts = { fn, files, signal, bulk, rules, format: outputs.directoryFormat, properties: outputs.properties }
  const here = new Gathering(collecting(parts))
  const start = checkedPath(command.workingDirectory, 'working directory')
  for (const [path, expected] of wantedOf(outputs.paths))
    await here.gather(path, checkedPath(path, 'output', start), expected)
  for (const path of filesMatching(outputs.globs, start, here.collecting)) {
    await here.gather(path, start === '' ? path : `${start}/${path}`, 'any')
  }
  return { outputs: here.outputs(), blobs: [...here.collecting.blobs.values()] }
}

function wantedOf(paths: Command['outputs']['paths']): Map<string, Expected> {
  if (paths.kind === 'any') return new Map(paths.paths.map((path) => [path, 'any']))
  return new Map([
    ...paths.files.map((path): [string, Expected] => [path, 'file']),
    ...paths.directories.map((path): [string, Expected] => [path, 'directory']),
  ])
}

class Gathering {
  readonly collecting: Collecting
  readonly #seen = new Set<string>()
  readonly #files: OutputFile[] = []
  readonly #directories: OutputDirectory[] = []
  readonly #symlinks: OutputSymlink[] = []
  readonly #fileSymlinks: OutputSymlink[] = []
  readonly #directorySymlinks: OutputSymlink[] = []

  constructor(here: Collecting) {
    this.collecting = here
  }

  /** `path` is as it was asked for, and as it is told; `whole` is where it is. */
  async gather(path: string, whole: string, expected: Expected): Promise<void> {
    if (this.#seen.has(path)) return
    this.#seen.add(path)
    this.collecting.count(1)
    const node = this.collecting.files.look(whole)
    if (node === undefined) return
    if (node.kind === 'symlink') this.#symlink(path, node, expected)
    else if (expected !== 'any' && expected !== node.kind) throw unexpected(path, expected, node.kind)
    else if (node.kind === 'file') await this.#file(path, node)
    else this.#directories.push(await outputDirectory(path, node, this.collecting))
  }

  outputs(): CollectedOutputs {
    return {
      outputFiles: this.#files,
      outputDirectories: this.#directories,
      outputSymlinks: this.#symlinks,
      legacyFileSymlinks: this.#fileSymlinks,
      legacyDirectorySymlinks: this.#directorySymlinks,
    }
  }

  async #file(path: string, node: Node): Promise<void> {
    const digest = await this.collecting.addFile(node, path)
    const executable = isExecutable(node.stats)
    const properties = propertiesOf(node.stats, this.collecting.properties)
    this.#files.push({ path, digest, executable, contents: undefined, properties })
  }

  /**
   * Under the new name, and under the old ones for clients that only know those. Where an older client said what it
   * wants, the link must lead to that, or nowhere.
   */
  #symlink(path: string, node: Extract<Node, { kind: 'symlink' }>, expected: Expected): void {
    const leadsTo = this.collecting.files.targetKind(node.real)
    if (expected !== 'any' && leadsTo !== undefined && leadsTo !== expected) throw unexpected(path, expected, leadsTo)
    this.collecting.checkTarget(path, node.target)
    const symlink = { path, target: node.target, properties: propertiesOf(node.stats, this.collecting.properties) }
    if (expected === 'any') this.#symlinks.push(symlink)
    const isDirectory = (expected === 'any' ? leadsTo : expected) === 'directory'
    ;(isDirectory ? this.#directorySymlinks : this.#fileSymlinks).push(symlink)
  }
}

const unexpected = (path: string, expected: Expected, found: string) =>
  invalid(`the output ${JSON.stringify(path.slice(0, 200))} was to be a ${expected} and is a ${found}`)
