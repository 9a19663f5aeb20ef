import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Files that an attack may have created outside of its room. */
const PLACES = ['/dev/shm/windlass-attack', '/tmp/windlass-attack', '/usr/bin/windlass-attack', '/windlass-attack']
/** The key of the segment that sysv-memory.c creates; sysv-fill.c uses those after it. */
const SEGMENT = 0x57494e44
const LAST = SEGMENT + 0x10000

export interface Suspects {
  /** The user of the room, which no other process on this machine has. */
  readonly uid: number
  /** The launcher's name, which is in the names of its control groups. */
  readonly launcher: string
  /** Its processes that belong to the worker. */
  readonly own: readonly string[]
  /** Folders in which a mount would be ours. */
  readonly folders: readonly string[]
}

/** Lists what an attack left on the machine, after waiting up to 30 s for processes to exit. */
export async function leftBehind(suspects: Suspects): Promise<string[]> {
  for (let round = 0; round < 1500 && look(suspects).length > 0; round++) await pause(20)
  return look(suspects)
}

function look({ uid, launcher, own, folders }: Suspects): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return [
    ...processesOf(uid)
      .filter((pid) => !own.includes(pid))
      .map((pid) => `process ${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 100)}`),
    ...mounts.filter((line) => folders.some((folder) => line.includes(folder))).map((line) => `mount ${line}`),
    ...groupsOf(launcher).map((path) => `control group ${path}`),
    ...PLACES.filter((path) => existsSync(path)).map((path) => `file ${path}`),
    ...(hasSegment() ? ['shared memory'] : []),
  ]
}

/** Removes what a bare room is known to leave. */
export function clearUp(): void {
  for (const path of PLACES) rmSync(path, { force: true })
  for (const [kind, flag] of KINDS) {
    const ids = idsOf(kind)
    for (let i = 0; i < ids.length; i += 500)
      execFileSync(
        'ipcrm',
        ids.slice(i, i + 500).flatMap((id) => [flag, id]),
      )
  }
}

const KINDS = [
  ['shm', '-m'],
  ['msg', '-q'],
  ['sem', '-s'],
] as const

/** The System V objects that an attack created in the host's IPC namespace. */
const idsOf = (kind: (typeof KINDS)[number][0]): string[] =>
  readFileSync(`/proc/sysvipc/${kind}`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([key]) => Number(key) >= SEGMENT && Number(key) < LAST)
    .map(([, id]) => id as string)

const hasSegment = (): boolean => KINDS.some(([kind]) => idsOf(kind).length > 0)

/** Processes of the user that are not zombies. */
export function processesOf(uid: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    const status = read(`/proc/${pid}/status`)
    return new RegExp(`^Uid:\\s+${uid}\\s`, 'm').test(status) && !/^State:\s+Z/m.test(status)
  })
}

/** The control groups of rooms with a process in them. Empty ones are created ahead of time. */
function groupsOf(launcher: string, path = '/sys/fs/cgroup', depth = 0): string[] {
  if (depth > 6 || !existsSync(path)) return []
  const ours = path.includes(`windlass-${launcher}/`)
  if (ours) return read(join(path, 'cgroup.procs')).trim() === '' ? [] : [path]
  return namesIn(path).flatMap((name) => groupsOf(launcher, join(path, name), depth + 1))
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
