import { lstatSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Staged } from '../../workflow/tool/room.ts'
import { isWithin, pathOfAddress } from './file-address.ts'
import type { LocalFiles } from './local-files.ts'

export interface Staging {
  readonly files: LocalFiles
  /** The folder of the room; nothing is written outside it. */
  readonly folder: string
  /** Writable files are the inputs themselves, not copies. */
  readonly inplaceUpdate: boolean
}

/** Stages the files that a command needs in its room: links to inputs, copies of writable files, literals. */
export async function stage(staged: readonly Staged[], staging: Staging): Promise<void> {
  for (const one of staged) {
    mustBeWithin(one.path, staging.folder)
    mkdirSync(dirname(one.path), { recursive: true })
    if (one.kind === 'directory') mkdirSync(one.path, { recursive: true })
    else if (one.kind === 'text') writeAnew(one.path, one.contents)
    else await bring(one, staging)
  }
}

export function sourceOf(location: string, files: LocalFiles): string {
  const path = pathOfAddress(location)
  if (path === undefined) throw invalid(`${location} is not a file of this machine`, 'unsupported')
  if (files.look(path) === undefined) throw invalid(`${path} is not there`)
  files.admit(path)
  return path
}

async function bring(one: Extract<Staged, { location: string }>, { files, inplaceUpdate }: Staging): Promise<void> {
  const source = sourceOf(one.location, files)
  if (!one.writable || inplaceUpdate) return link(source, one.path)
  await copyTree(source, one.path)
}

function link(source: string, path: string): void {
  try {
    symlinkSync(source, path)
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'EEXIST' ? invalid(`two inputs want to be ${path}`) : cause
  }
}

export const copyTree = (source: string, path: string): Promise<void> =>
  cp(source, path, { recursive: true, dereference: true, preserveTimestamps: true })

/** A link of an earlier input must not redirect the literal into another file. */
function writeAnew(path: string, contents: string): void {
  try {
    writeFileSync(path, contents, { flag: 'wx' })
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'EEXIST' ? invalid(`two inputs want to be ${path}`) : cause
  }
}

/** The existing part of a path must be a folder of the room, not a link to an input. */
export function mustBeWithin(path: string, folder: string): void {
  let at = dirname(path)
  while (isWithin(at, folder) && at !== folder && !isThere(at)) at = dirname(at)
  if (!isWithin(at, folder) || !isWithin(realpathSync.native(at), folder))
    throw invalid(`${path} is not in the room of the command`)
}

function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
