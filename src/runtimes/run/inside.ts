import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { Room, RunCommand } from './runtime.ts'

/**
 * The fixed paths, names and ids that a command sees in a room with namespaces, equal on every worker, so that its
 * outputs do not depend on the machine.
 */
export const INSIDE = {
  /** The root of the inputs. */
  room: '/room',
  tmp: '/tmp',
  hostname: 'windlass',
  user: 'runner',
  uid: 1000,
  gid: 1000,
} as const

const FIXED: readonly EnvVariable[] = [
  { name: 'PATH', value: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  { name: 'HOME', value: INSIDE.tmp },
  { name: 'USER', value: INSIDE.user },
  { name: 'TMPDIR', value: INSIDE.tmp },
  { name: 'LANG', value: 'C.UTF-8' },
  { name: 'TZ', value: 'UTC' },
]

/** The worker's variables override the fixed ones, and the command's own override both. */
export const environmentInside = ({ env }: RunCommand, defaults: readonly EnvVariable[]): ReadonlyMap<string, string> =>
  new Map([...FIXED, ...defaults, ...env].map(({ name, value }) => [name, value]))

/** Maps a path in the room to the path that the command sees. */
export const pathInside = (path: string, room: Room): string => INSIDE.room + path.slice(room.path.length)

/** The paths of the parts that the command may not change: each must exist and must not be a symlink. */
export function readOnlyPaths(room: Room): readonly string[] {
  return (room.readOnly ?? []).map((part) => {
    const path = part === '' ? room.path : join(room.path, part)
    if (path !== room.path && !path.startsWith(`${room.path}/`))
      throw invalid(`${quoted(part)} is marked read-only but is outside the room`)
    if (realOf(path) !== path) throw invalid(`${quoted(part)} is marked read-only but does not exist or is a symlink`)
    return path
  })
}

/** The directory of the root file system, for a room that names one. */
export function rootfsOf({ rootfs }: Room): string | undefined {
  if (rootfs === undefined) return undefined
  if (rootfs === '/' || realOf(rootfs) !== rootfs) throw invalid(`${quoted(rootfs)} is not a usable rootfs directory`)
  return rootfs
}

export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
