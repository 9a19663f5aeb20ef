import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { INSIDE } from '../run/inside.ts'
import { type ProgramProblem, programProblem } from '../run/program.ts'

/** The read-only part of a system that a room sees. */
export type SystemPart =
  | { readonly kind: 'bind'; readonly from: string; readonly to: string }
  | { readonly kind: 'symlink'; readonly target: string; readonly at: string }

/** Programs and libraries. Folders of users, services and the machine itself stay hidden. */
const SYSTEM = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'gnu']
/** Folders that each room has for itself. */
const OWN: ReadonlySet<string> = new Set(['dev', 'proc', 'sys', 'run', 'tmp', 'room', 'lost+found'])

/** This machine's system: its programs, and a folder that stands for /etc. */
export const systemOfMachine = (etc: string, readable: readonly string[]): readonly SystemPart[] => [
  ...SYSTEM.flatMap((name) => partAt('/', name)),
  { kind: 'bind', from: etc, to: '/etc' },
  ...readable.map((path): SystemPart => ({ kind: 'bind', from: path, to: mustBeElsewhere(path) })),
]

/** Throws for a path that a folder of the room would be mounted over. */
function mustBeElsewhere(path: string): string {
  if (isAbsolute(path) && !OWN.has(path.split('/')[1] ?? '')) return path
  throw new Error(`rooms cannot see ${path}: it must be an absolute path outside of /${[...OWN].join(', /')}`)
}

/** The system in another root folder. */
export const systemOf = (rootfs: string): readonly SystemPart[] =>
  readdirSync(rootfs)
    .filter((name) => !OWN.has(name))
    .flatMap((name) => partAt(rootfs, name))

/** A symlink stays a symlink; the kernel resolves it in the room. */
function partAt(root: string, name: string): SystemPart[] {
  const from = join(root, name)
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() === true) return [{ kind: 'symlink', target: readlinkSync(from), at: `/${name}` }]
  return found?.isDirectory() === true ? [{ kind: 'bind', from, to: `/${name}` }] : []
}

/**
 * Returns why a room cannot start a program by this name and PATH. Undefined when it can, or when only the room can
 * find out.
 */
export type ProgramSearch = (program: string, path: string | undefined) => ProgramProblem | undefined

/**
 * Finds programs where that is possible outside the room: a name without a slash, searched for in folders that the room
 * shares with the machine. The room itself looks up all others. Nearly all commands have the same PATH, so its shared
 * folders are cached.
 */
export function programSearch(parts: readonly SystemPart[]): ProgramSearch {
  let known: { readonly path: string; readonly shared: string | undefined } = { path: '', shared: undefined }
  return (program, path = '') => {
    if (program.includes('/')) return undefined
    if (path !== known.path) known = { path, shared: sharedFolders(path, parts) }
    const problem = known.shared === undefined ? undefined : programProblem(program, '/', known.shared)
    if (problem === undefined) return undefined
    const named = JSON.stringify(program.slice(0, 300))
    return { ...problem, what: `${named} was not found (PATH is ${JSON.stringify(path.slice(0, 500))})` }
  }
}

/** Undefined for a PATH with folders of the room or relative ones. */
function sharedFolders(path: string, parts: readonly SystemPart[]): string | undefined {
  const folders = path.split(':')
  const isPlain = folders.every((folder) => folder.startsWith('/') && !folder.startsWith(INSIDE.room))
  return isPlain ? folders.filter((folder) => isInSight(folder, parts)).join(':') : undefined
}

/** Whether a path of the machine names the same file in the room. */
const isInSight = (path: string, parts: readonly SystemPart[]): boolean =>
  parts.some((part) =>
    part.kind === 'bind'
      ? part.from === part.to && isBelow(path, part.to)
      : isBelow(path, part.at) && statSync(part.at, { throwIfNoEntry: false }) !== undefined,
  )

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
