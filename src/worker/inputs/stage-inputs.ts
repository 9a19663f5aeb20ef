import { statSync } from 'node:fs'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { CommandTask, PlacedFile } from '../../model/command-task.ts'
import type { RoomMount } from '../../runtimes/run/runtime.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { checkedPath } from '../rooms/checked-path.ts'
import type { User } from '../rooms/rooms.ts'
import type { BlobSource } from './blob-source.ts'
import { type DirectoryCache, directoryCache } from './directory-cache.ts'
import { fileFetch } from './fetch-files.ts'
import type { CachedFile, FileCache } from './file-cache.ts'
import { type InputPlan, type PlannedFile, type PlanRules, planInputs } from './input-plan.ts'
import { type Placement, placeInputs, type RoomContents } from './place-inputs.ts'

export interface InputOptions {
  readonly source: BlobSource
  /** If files are linked, the part of the cache that belongs to one instance. */
  readonly cache: FileCache
  readonly bulk: BulkPool
  readonly placement: Placement
  /** The user of all rooms, if they share one; undefined for the worker's own. */
  readonly user: User | undefined
  readonly rules: PlanRules
  /** Bytes of Directory messages that are kept in memory. */
  readonly directoryBytes: number
}

/** The fields of a task that determine the contents of its room. */
export type TaskInputs = Pick<CommandTask, 'inputs' | 'outputs' | 'workingDirectory' | 'stages' | 'action' | 'places'>

export interface StagedInputs extends Disposable {
  /** The path of a blob that a stage reads; undefined for the empty one. */
  pathOf(digest: Digest): string | undefined
  /** Inputs that a container mounts, because they are not in the room. */
  readonly mounts?: readonly RoomMount[]
}

export interface InputStage {
  /**
   * Fills an empty directory with the inputs of a task. The result holds the files in the cache until it is disposed
   * of. Throws `missing` with all absent blobs, and `invalid` for a tree that no worker can place.
   */
  stage(task: TaskInputs, root: string, signal: AbortSignal): Promise<StagedInputs>
}

const NO_INPUTS: InputPlan = { directories: [], files: [], symlinks: [], missing: [] }

export function inputStage(options: InputOptions): InputStage {
  const { source, cache, rules } = options
  const directories: DirectoryCache = directoryCache(source, options.directoryBytes)
  const fetch = fileFetch(options)
  // A Directory message without entries is the empty blob.
  const planOf = async (root: Digest | undefined, signal: AbortSignal): Promise<InputPlan> =>
    root === undefined || root.size === 0 ? NO_INPUTS : await planInputs(root, { cache: directories, rules }, signal)
  return {
    async stage(task, root, signal) {
      const { inputs, action } = task
      const start = task.workingDirectory === '' ? '' : checkedPath(task.workingDirectory, 'working directory')
      const inline = inputs.files.map((file) => ({ ...file, path: checkedPath(file.path, 'input') }))
      const placed = inputs.placed.map(plannedFile)
      const outputParents = outputPathsOf(task).flatMap((path) => parentOf(checkedPath(path, 'output', start)))
      // An action's working directory must be among its inputs (REAPI, Command.working_directory).
      if (action === undefined && start !== '') outputParents.push(start)
      const plan = await planOf(inputs.root, signal)
      const contents = { plan, inline, placed, outputParents }
      const apart = task.stages.flatMap(({ stdin }) =>
        stdin?.kind === 'blob' ? [{ digest: stdin.digest, executable: false }] : [],
      )
      const held = holdAll(cache, [...filesOf([...plan.files, ...placed], options), ...filesOf(apart, options)])
      try {
        const missing = [...plan.missing, ...(held.files.length === 0 ? [] : await fetch.fetch(held.files, signal))]
        if (missing.length > 0) throw new FaultError({ kind: 'missing', digests: missing })
        if (!isEmpty(contents)) {
          const user = options.user && ownerOf(root)
          await placeInputs(contents, { ...options, root, user }, signal)
        }
        return held
      } catch (error) {
        held[Symbol.dispose]()
        throw error
      }
    },
  }
}

const isEmpty = ({ plan, inline, placed, outputParents }: RoomContents): boolean =>
  plan === NO_INPUTS && inline.length + placed.length + outputParents.length === 0

/** Each room may belong to its own user, whom `rooms` has made its owner. */
function ownerOf(root: string): User {
  const { uid, gid } = statSync(root)
  return { uid, gid }
}

export const outputPathsOf = ({ outputs, action }: Pick<CommandTask, 'outputs' | 'action'>): readonly string[] =>
  action === undefined ? outputs.paths : [...outputs.paths, ...action.outputFiles, ...action.outputDirectories]

/** Returns no parent for the root, which exists already. */
function parentOf(path: string): string[] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? [] : [path.slice(0, slash)]
}

/** Empty files need no cache. */
function filesOf(files: readonly CachedFile[], { cache, placement }: InputOptions): CachedFile[] {
  const unique = new Map<string, CachedFile>()
  for (const { digest, executable } of files) {
    if (digest.size === 0) continue
    const file = { digest, executable: executable && placement === 'link' } // one copied form serves both
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
  for (const file of files) cache.entries.hold(cache.keyOf(file))
  return {
    files,
    pathOf: (digest) => (digest.size === 0 ? undefined : cache.pathOf({ digest, executable: false })),
    [Symbol.dispose]() {
      if (isHeld) for (const file of files) cache.entries.release(cache.keyOf(file))
      isHeld = false
    },
  }
}
