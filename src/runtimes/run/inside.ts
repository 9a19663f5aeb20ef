import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Command, EnvVariable } from '../../model/command.ts'
import { isFreePlace, type RoomPlace } from '../../model/command-task.ts'
import type { Room } from './runtime.ts'

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
export const environmentInside = ({ env }: Command, defaults: readonly EnvVariable[]): ReadonlyMap<string, string> =>
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

/** The same, with the path that the task has chosen for a place, where it has. */
export function pathShown(path: string, room: Room): string {
  const within = (room.places ?? []).find(({ path: part }) => isWithin(path, join(room.path, part)))
  return within === undefined ? pathInside(path, room) : within.at + path.slice(join(room.path, within.path).length)
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/**
 * The parts of the room that are also mounted elsewhere, as paths of this machine. Symlinks are refused: the mount
 * would show their target.
 */
export function shownPlaces(room: Room): readonly RoomPlace[] {
  const closed = room.places === undefined ? [] : readOnlyPaths(room)
  return (room.places ?? []).map(({ path: part, at, writable }) => {
    const path = join(room.path, part)
    if (!path.startsWith(`${room.path}/`) || realOf(path) !== path || !isFreePlace(at))
      throw invalid(`${quoted(part)} cannot be mounted at ${quoted(at)}`)
    const isClosed = closed.some((one) => isWithin(path, one) || isWithin(one, path))
    return { path, at, writable: writable && !isClosed }
  })
}

/** The directory of the root file system, for a room that names one. */
export function rootfsOf({ rootfs }: Room): string | undefined {
  if (rootfs === undefined) return undefined
  if (rootfs === '/' || realOf(rootfs) !== rootfs) throw invalid(`${quoted(rootfs)} is not a usable rootfs directory`)
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
