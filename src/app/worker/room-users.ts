import { createHash } from 'node:crypto'
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import { OWN_USER, type RoomUser } from '../../runtimes/open-runtime.ts'
import { type RoomUsers, sameUser, userPerRoom } from '../../worker/rooms/rooms.ts'
import type { Backend } from '../config/backends.ts'

export interface RoomUsersOptions {
  readonly backend: Backend
  /** The user of commands, from `commandUser`. */
  readonly user: RoomUser | undefined
  /** The worker's own user. */
  readonly uid: number
  readonly folder: string
  readonly firstRoomUser?: number | undefined
}

/** uids that no distribution assigns (systemd, "Users, Groups, UIDs and GIDs": 1879048192 to 2147483647 are unused). */
const FIRST = 0x7000_0000
const BLOCK = 0x1_0000
const BLOCKS = 0x1000
/** The maximum number of open rooms. */
const MOST_ROOMS = 4096

/**
 * The users of a worker's rooms. A root worker assigns each open room its own user, unless one account for all is
 * configured. Workers of one machine use separate ranges, chosen by their folders.
 */
export function roomUsers({ backend, user, uid, folder, firstRoomUser }: RoomUsersOptions): RoomUsers {
  // Apptainer stores images in a folder that belongs to one user.
  if (uid !== 0 || user?.uid !== OWN_USER.uid || backend === 'apptainer') return sameUser(user)
  const used = [...usedIds(PASSWD, ([, , id]) => [id, '1']), ...usedIds(SUBUID, ([, first, count]) => [first, count])]
  const isFree = (first: number): boolean => !used.some(([from, to]) => from < first + MOST_ROOMS && first < to)
  if (firstRoomUser !== undefined && !isFree(firstRoomUser))
    throw invalid(
      `worker.host.first_room_user: ${firstRoomUser} to ${firstRoomUser + MOST_ROOMS - 1} overlap with ids in ${PASSWD} or ${SUBUID}: choose another range`,
    )
  const first = firstRoomUser ?? freeBlock(folder, isFree)
  return first !== undefined && mayOwn(folder, first) ? userPerRoom(first) : sameUser(user)
}

function freeBlock(folder: string, isFree: (first: number) => boolean): number | undefined {
  const start = createHash('sha256').update(realpathSync(folder)).digest().readUInt16BE(0) % BLOCKS
  for (let tried = 0; tried < BLOCKS; tried += 1) {
    const first = FIRST + ((start + tried) % BLOCKS) * BLOCK
    if (isFree(first)) return first
  }
  return undefined
}

/** In a container with a user namespace, root can only use ids that are mapped into it (user_namespaces(7)). */
function mayOwn(folder: string, id: number): boolean {
  const trial = mkdtempSync(join(folder, 'owned-'))
  try {
    chownSync(trial, id, id)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(trial)
  }
}

const PASSWD = '/etc/passwd'
const SUBUID = '/etc/subuid'

type Range = readonly [from: number, to: number]

function usedIds(
  file: string,
  rangeOf: (fields: readonly string[]) => readonly [string | undefined, string | undefined],
): Range[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => rangeOf(line.split(':')).map(Number))
      .filter(([first, count]) => Number.isInteger(first) && Number.isInteger(count))
      .map(([first = 0, count = 0]) => [first, first + count])
  } catch {
    return [] // a system without users, or without such ranges
  }
}
