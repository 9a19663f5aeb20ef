import { FaultError } from '../../base/fault.ts'
import type { CommandOutputFile, CommandOutputs, CommandTask } from '../../model/command-task.ts'
import { checkedPath } from '../checked-path.ts'
import type { OutputBlob } from '../outputs/blob-target.ts'
import type { CollectOptions } from '../outputs/collect-outputs.ts'
import { collecting } from '../outputs/collecting.ts'
import { RoomFiles } from '../outputs/room-files.ts'
import { OutputGathering } from './gather-outputs.ts'
import { matchingNodes } from './matching-nodes.ts'
import { type Found, outputsTree } from './outputs-tree.ts'

export interface CommandOutputsOrder {
  readonly task: Pick<CommandTask, 'fn' | 'workingDirectory' | 'outputs' | 'places'>
  /** Of the room, without symlinks in it. */
  readonly root: string
}

export interface CollectedCommandOutputs {
  readonly outputs: CommandOutputs
  /** What they consist of; read from the room, so it must still be there. */
  readonly blobs: readonly OutputBlob[]
}

/** Gathers what a task asked for. What the commands have left there that cannot be carried out is told, and not thrown. */
export async function collectCommandOutputs(
  order: CommandOutputsOrder,
  options: CollectOptions,
  signal: AbortSignal,
): Promise<CollectedCommandOutputs> {
  try {
    return await gathered(order, options, signal)
  } catch (error) {
    if (!(error instanceof FaultError && error.fault.kind === 'invalid')) throw error
    return { outputs: { root: undefined, files: [], symlinks: [], problem: error.message }, blobs: [] }
  }
}

async function gathered(
  { task: { fn, workingDirectory, outputs: wanted, places }, root }: CommandOutputsOrder,
  { bulk, rules }: CollectOptions,
  signal: AbortSignal,
): Promise<CollectedCommandOutputs> {
  const files = new RoomFiles(root, places)
  const mostBytes = Math.min(rules.mostBytes, wanted.mostBytes)
  const all = collecting({
    ...{ fn, files, signal, bulk, format: 'directories', properties: [] },
    rules: { ...rules, mostBytes },
  })
  const start = checkedPath(workingDirectory, 'working directory')
  const gathering = new OutputGathering(all, wanted)
  for (const path of wanted.paths) {
    const node = files.look(checkedPath(path, 'output', start))
    if (node !== undefined) await gathering.take(path, node)
  }
  for await (const { path, node } of matchingNodes(wanted.globs, start, all)) await gathering.take(path, node)
  const found = [...gathering.found].sort(([one], [other]) => (one < other ? -1 : 1))
  const outputs: CommandOutputs = {
    root: found.length === 0 ? undefined : outputsTree(gathering.found, all),
    files: found.flatMap(fileOf),
    symlinks: found.flatMap(([path, each]) => (each.kind === 'symlink' ? [{ path, target: each.target }] : [])),
    problem: undefined,
  }
  return { outputs, blobs: [...all.blobs.values()] }
}

const fileOf = ([path, found]: readonly [string, Found]): CommandOutputFile[] =>
  found.kind === 'file' ? [{ path, digest: found.digest, executable: found.executable }] : []
