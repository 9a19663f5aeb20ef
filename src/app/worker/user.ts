import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { invalid } from '../../base/fault.ts'
import { OWN_USER, type RoomUser } from '../../runtimes/open-runtime.ts'

const PASSWD = '/etc/passwd'

/**
 * The user that commands run as; undefined for the worker's own user. Root drops its rights unless configured
 * otherwise.
 */
export function commandUser(named: string | undefined, own: number): RoomUser | undefined {
  const user = named === undefined ? undefined : userNamed(named)
  if (own === 0) return user?.uid === 0 ? undefined : (user ?? OWN_USER)
  if (user === undefined || user.uid === own) return undefined
  throw invalid('worker.host.user: only a worker that is root can run commands as another user')
}

function userNamed(named: string): RoomUser {
  const numbers = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(named)
  if (numbers !== null) return { uid: Number(numbers[1]), gid: Number(numbers[2] ?? numbers[1]) }
  const fields = passwd().find(([name]) => name === named)
  if (fields === undefined) throw invalid(`worker.host.user: there is no user ${JSON.stringify(named)} in ${PASSWD}`)
  return { uid: Number(fields[2]), gid: Number(fields[3]) }
}

function passwd(): string[][] {
  try {
    return readFileSync(PASSWD, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  } catch {
    return [] // a system without users: numeric ids are sufficient
  }
}

const THROUGH_FOR_OTHERS = 0o001

/** Returns the first folder of a path that other users cannot enter; undefined when they can enter all. */
export function closedOnTheWay(path: string): string | undefined {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const stats = statSync(folder, { throwIfNoEntry: false })
    if (stats !== undefined && (stats.mode & THROUGH_FOR_OTHERS) === 0) return folder
    if (folder === dirname(folder)) return undefined
  }
}
