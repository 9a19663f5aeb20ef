import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Command, EnvVariable } from '../../model/command.ts'
import type { Room } from '../runtime.ts'

/**
 * What a command finds in a room with namespaces, on whatever machine and whichever worker: the same paths, names and
 * numbers every time, so that what it makes does not depend on where it was made.
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

/** The worker's words come before the fixed ones, and the command's own before both. */
export const environmentInside = ({ env }: Command, defaults: readonly EnvVariable[]): ReadonlyMap<string, string> =>
  new Map([...FIXED, ...defaults, ...env].map(({ name, value }) => [name, value]))

/** A path in the room as the command sees it. */
export const pathInside = (path: string, room: Room): string => INSIDE.room + path.slice(room.path.length)

/** Where the parts lie that the command may not change: each must be there, and be what it says. */
export function readOnlyPaths(room: Room): readonly string[] {
  return (room.readOnly ?? []).map((part) => {
    const path = part === '' ? room.path : join(room.path, part)
    if (path !== room.path && !path.startsWith(`${room.path}/`))
      throw invalid(`${quoted(part)}, which is to be read only, is not in the room`)
    if (realOf(path) !== path) throw invalid(`${quoted(part)}, which is to be read only, is not there or a symlink`)
    return path
  })
}

/** The directory with another system, for one that names it. */
export function rootfsOf({ rootfs }: Room): string | undefined {
  if (rootfs === undefined) return undefined
  if (rootfs === '/' || realOf(rootfs) !== rootfs) throw invalid(`${quoted(rootfs)} is no directory for a rootfs`)
  return rootfs
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
