import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

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

/** A folder of the room would be mounted over it. */
function mustBeElsewhere(path: string): string {
  if (isAbsolute(path) && !OWN.has(path.split('/')[1] ?? '')) return path
  throw new Error(`rooms cannot see ${path}: it must be an absolute path outside of /${[...OWN].join(', /')}`)
}

/** Another system, in a folder. */
export const systemOf = (rootfs: string): readonly SystemPart[] =>
  readdirSync(rootfs)
    .filter((name) => !OWN.has(name))
    .flatMap((name) => partAt(rootfs, name))

/** A symlink stays a symlink: the room resolves it. */
function partAt(root: string, name: string): SystemPart[] {
  const from = join(root, name)
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() === true) return [{ kind: 'symlink', target: readlinkSync(from), at: `/${name}` }]
  return found?.isDirectory() === true ? [{ kind: 'bind', from, to: `/${name}` }] : []
}

/** Whether a path of the machine is the same file in the room. */
export const isInSight = (path: string, parts: readonly SystemPart[]): boolean =>
  parts.some((part) =>
    part.kind === 'bind'
      ? part.from === part.to && isBelow(path, part.to)
      : isBelow(path, part.at) && statSync(part.at, { throwIfNoEntry: false }) !== undefined,
  )

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
