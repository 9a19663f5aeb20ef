import { statSync } from 'node:fs'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { Command } from '../../model/command.ts'
import type { PlacedFile } from '../../model/command-task.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { checkedPath } from '../checked-path.ts'
import type { BlobSource } from './blob-source.ts'
import { type DirectoryCache, directoryCache } from './directory-cache.ts'
import { fileFetch } from './fetch-files.ts'
import type { CachedFile, FileCache } from './file-cache.ts'
import { type InputPlan, type PlannedFile, type PlanRules, planInputs } from './input-plan.ts'
import { type Placement, placeInputs, type User } from './place-inputs.ts'

export interface InputOptions {
  readonly source: BlobSource
  /** Where files are linked, the part of the cache of one instance. */
  readonly cache: FileCache
  readonly bulk: BulkPool
  readonly placement: Placement
  /** The user of rooms where they have one user; undefined for the worker's own. */
  readonly user: User | undefined
  readonly rules: PlanRules
  /** Of Directory messages that are kept in memory. */
  readonly directoryBytes: number
}

/** What a room is filled with: that of a command, and what only tasks of our own doors ask for. */
export interface WantedInputs extends Pick<Command, 'inputs' | 'outputs' | 'workingDirectory'> {
  readonly placed?: readonly PlacedFile[]
  /** Blobs that are to be at hand, and not in the room. */
  readonly apart?: readonly Digest[]
  /** The working directory is made when no input does. */
  readonly makesWorkingDirectory?: boolean
}

export interface StagedInputs extends Disposable {
  /** Where a blob that was wanted apart lies; undefined for the empty one. */
  pathOf(digest: Digest): string | undefined
}

export interface InputStage {
  /**
   * Fills an empty directory with the inputs of a command. What it took from the cache is held until the answer is
   * disposed of. Throws `missing` with all blobs that are not there, and `invalid` for a tree that can be laid out nowhere.
   */
  stage(wanted: WantedInputs, root: string, signal: AbortSignal): Promise<StagedInputs>
}

const NO_INPUTS: InputPlan = { directories: [], files: [], symlinks: [], missing: [] }

export function inputStage(options: InputOptions): InputStage {
  const { source, cache, rules } = options
  const directories: DirectoryCache = directoryCache(source, options.directoryBytes)
  const fetch = fileFetch(options)
  return {
    async stage(wanted, root, signal) {
      const { inputs, outputs } = wanted
      if (inputs.uris.length > 0)
        throw new FaultError({ kind: 'invalid', what: 'inputs by URI are not staged here', why: 'unsupported' })
      const start = checkedPath(wanted.workingDirectory, 'working directory')
      const inline = inputs.files.map((file) => ({ ...file, path: checkedPath(file.path, 'input') }))
      const placed = (wanted.placed ?? []).map(plannedFile)
      const outputParents = wantedPathsOf(outputs.paths).flatMap((path) => parentOf(checkedPath(path, 'output', start)))
      if (wanted.makesWorkingDirectory) outputParents.push(start)
      const plan =
        inputs.root === undefined ? NO_INPUTS : await planInputs(inputs.root, { cache: directories, rules }, signal)
      const apart = (wanted.apart ?? []).map((digest) => ({ digest, executable: false }))
      const held = holdAll(cache, [...filesOf([...plan.files, ...placed], options), ...filesOf(apart, options)])
      try {
        const missing = [...plan.missing, ...(await fetch.bring(held.files, signal))]
        if (missing.length > 0) throw new FaultError({ kind: 'missing', digests: missing })
        const user = options.user && ownerOf(root)
        await placeInputs({ plan, inline, placed, outputParents }, { ...options, root, user }, signal)
        return held
      } catch (error) {
        held[Symbol.dispose]()
        throw error
      }
    },
  }
}

/** Each room may belong to a user of its own; whoever made it gave it to that user. */
function ownerOf(root: string): User {
  const { uid, gid } = statSync(root)
  return { uid, gid }
}

const wantedPathsOf = (paths: Command['outputs']['paths']): readonly string[] =>
  paths.kind === 'any' ? paths.paths : [...paths.files, ...paths.directories]

/** None for the root, which is there already. */
function parentOf(path: string): string[] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? [] : [path.slice(0, slash)]
}

/** Empty files are made on the spot. */
function filesOf(files: readonly CachedFile[], { cache, placement }: InputOptions): CachedFile[] {
  const unique = new Map<string, CachedFile>()
  for (const { digest, executable } of files) {
    if (digest.size === 0) continue
    const file = { digest, executable: executable && placement === 'link' } // of copies one form will do for both
    unique.set(cache.keyOf(file), file)
  }
  return [...unique.values()]
}

const plannedFile = ({ path, digest, executable, writable }: PlacedFile): PlannedFile => ({
  path: checkedPath(path, 'input'),
  digest,
  executable,
  properties: undefined,
  writable,
})

function holdAll(
  cache: FileCache,
  files: readonly CachedFile[],
): StagedInputs & { readonly files: readonly CachedFile[] } {
  let isHeld = true
  for (const file of files) cache.shelf.hold(cache.keyOf(file))
  return {
    files,
    pathOf: (digest) => (digest.size === 0 ? undefined : cache.pathOf({ digest, executable: false })),
    [Symbol.dispose]() {
      if (isHeld) for (const file of files) cache.shelf.release(cache.keyOf(file))
      isHeld = false
    },
  }
}
