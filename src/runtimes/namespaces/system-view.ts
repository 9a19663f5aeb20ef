import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** What a room sees of a system, none of it to be changed. */
export type SystemPart =
  | { readonly kind: 'bind'; readonly from: string; readonly to: string }
  | { readonly kind: 'symlink'; readonly target: string; readonly at: string }

/** Programs and libraries. What belongs to people, services and the machine itself is elsewhere, and stays out of sight. */
const SYSTEM = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'gnu']
/** These a room has of its own. */
const OWN: ReadonlySet<string> = new Set(['dev', 'proc', 'sys', 'run', 'tmp', 'room', 'lost+found'])

/** Of this machine: its programs, and a folder that stands for /etc. */
export const systemOfMachine = (etc: string, readable: readonly string[]): readonly SystemPart[] => [
  ...SYSTEM.flatMap((name) => partAt('/', name)),
  { kind: 'bind', from: etc, to: '/etc' },
  ...readable.map((path): SystemPart => ({ kind: 'bind', from: path, to: mustBeElsewhere(path) })),
]

/** What a room has of its own would lie over it. */
function mustBeElsewhere(path: string): string {
  if (isAbsolute(path) && !OWN.has(path.split('/')[1] ?? '')) return path
  throw new Error(`rooms cannot see ${path}: it must be an absolute path outside of /${[...OWN].join(', /')}`)
}

/** Of another system that lies in a folder. */
export const systemOf = (rootfs: string): readonly SystemPart[] =>
  readdirSync(rootfs)
    .filter((name) => !OWN.has(name))
    .flatMap((name) => partAt(rootfs, name))

/** A symlink stays one: where it leads to is for the room to say. */
function partAt(root: string, name: string): SystemPart[] {
  const from = join(root, name)
  const found = lstatSync(from, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() === true) return [{ kind: 'symlink', target: readlinkSync(from), at: `/${name}` }]
  return found?.isDirectory() === true ? [{ kind: 'bind', from, to: `/${name}` }] : []
}

/** Whether a path of the machine is what a room sees there. */
export const isInSight = (path: string, parts: readonly SystemPart[]): boolean =>
  parts.some((part) =>
    part.kind === 'bind'
      ? part.from === part.to && isBelow(path, part.to)
      : isBelow(path, part.at) && statSync(part.at, { throwIfNoEntry: false }) !== undefined,
  )

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
