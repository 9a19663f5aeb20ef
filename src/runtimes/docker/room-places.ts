import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import { isFreePlace, type RoomPlace } from '../../model/command-task.ts'
import { pathInside, readOnlyPaths, realOf } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

/**
 * Maps a path in the room to the path that the command sees, including the mount point that the task may have chosen.
 */
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

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
