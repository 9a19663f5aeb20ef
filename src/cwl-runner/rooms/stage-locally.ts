import { lstatSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type { PlacedFile } from '../../model/command-task.ts'
import type { InputStage, StagedInputs, TaskInputs } from '../../worker/inputs/stage-inputs.ts'
import { isWithin } from '../files/file-address.ts'
import type { HeldNode, LocalStore } from './local-store.ts'

/** Shows a file or directory of this machine at a path of the room, without a copy. */
export type ShowInput = (shown: ShownInput) => void

export interface ShownInput {
  readonly source: string
  /** The whole path in the room. */
  readonly path: string
  readonly kind: 'file' | 'directory'
}

/** Fills rooms on this machine with links to inputs, copies of files that the command may change, and literals. */
export const linkingStage = (store: LocalStore): InputStage => ({
  async stage(task, root, signal) {
    await fillRoom({ task, root, store, show: ({ source, path }) => symlinkSync(source, path) }, signal)
    return NOTHING_HELD
  },
})

export const NOTHING_HELD: StagedInputs = { pathOf: () => undefined, [Symbol.dispose]() {} }

export interface FilledRoom {
  readonly task: TaskInputs
  /** The directory of the room. */
  readonly root: string
  readonly store: LocalStore
  readonly show: ShowInput
}

/** Throws `invalid` when an input or an output would lie outside of the room, and the error of the system for two at one path. */
export async function fillRoom({ task, root, store, show }: FilledRoom, signal: AbortSignal): Promise<void> {
  const { inputs, outputs, workingDirectory } = task
  const placing = { room: roomAt(root), store, show }
  const { room } = placing
  if (inputs.root !== undefined) placeTree({ digest: inputs.root, path: '' }, placing)
  for (const file of inputs.placed) {
    signal.throwIfAborted()
    await placeFile(file, placing)
  }
  for (const { path, contents } of inputs.files) writeFileSync(room.place(path), contents, { flag: 'wx' })
  for (const path of outputs.paths) room.place(posix.join(workingDirectory, path))
  room.makeDirectory(workingDirectory)
}

interface RoomPaths {
  /** Makes the parents of a path from the root, and returns its whole path. Throws `invalid` outside of the room. */
  place(path: string): string
  makeDirectory(path: string): void
}

function roomAt(root: string): RoomPaths {
  const place = (path: string): string => {
    const whole = join(root, path)
    mustBeWithin(whole, root)
    mkdirSync(dirname(whole), { recursive: true })
    return whole
  }
  return { place, makeDirectory: (path) => void mkdirSync(place(path), { recursive: true }) }
}

interface Placing {
  readonly room: RoomPaths
  readonly store: LocalStore
  readonly show: ShowInput
}

interface TreePart {
  readonly digest: Digest
  /** From the root of the room; empty for the root. */
  readonly path: string
}

function placeTree({ digest, path }: TreePart, placing: Placing): void {
  const { room, store, show } = placing
  const node = nodeOf(digest, store)
  if (node.kind === 'path') return show({ source: node.path, path: room.place(path), kind: 'directory' })
  if (path !== '') room.makeDirectory(path)
  if (node.kind !== 'directory') return
  for (const { name, digest: below } of node.directory.directories)
    placeTree({ digest: below, path: posix.join(path, name) }, placing)
}

async function placeFile({ path, digest, writable }: PlacedFile, { room, store, show }: Placing): Promise<void> {
  const node = nodeOf(digest, store)
  const whole = room.place(path)
  if (node.kind === 'bytes') writeFileSync(whole, node.bytes, { flag: 'wx' })
  else if (node.kind === 'path' && !writable) show({ source: node.path, path: whole, kind: 'file' })
  else if (node.kind === 'path')
    await cp(node.path, whole, { dereference: true, preserveTimestamps: true, force: false, errorOnExist: true })
}

function nodeOf(digest: Digest, store: LocalStore): HeldNode {
  const node = store.held(digest)
  if (node === undefined) throw invalid('an input is not there')
  return node
}

/** The existing part of a path must be a folder of the room, not a link to an input. */
function mustBeWithin(path: string, folder: string): void {
  let at = dirname(path)
  while (isWithin(at, folder) && at !== folder && !isThere(at)) at = dirname(at)
  if (!isWithin(at, folder) || !isWithin(realpathSync.native(at), folder))
    throw invalid(`${path} is not in the room of the command`)
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
