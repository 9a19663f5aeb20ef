import type { IpcSetting } from '../namespaces/ipc-limits.ts'
import type { SystemPart } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

/** Where the program finds its filter and the settings, one each, and after them where it tells of the command's end. */
const FILTER_FD = 3
const SETTINGS_FD = 4

/**
 * Parts of /proc that a command must not reach. The first process of the room runs as the user of the command: one that writes
 * to its memory could report a false end and outlive it. Switches of the kernel belong to root, as the user of a room may, and
 * those of the room's own IPC namespace are limits; bubblewrap itself leaves them open where it cannot write to the directory.
 */
const PROC_COVERS = [
  ...['--tmpfs', '/proc/1', '--remount-ro', '/proc/1'],
  ...['--ro-bind', '/proc/sys', '/proc/sys', '--ro-bind-try', '/proc/sysrq-trigger', '/proc/sysrq-trigger'],
]

const SHM_BYTES = 64 << 20
/** For rooms without a folder for temporary files. */
const TMP_BYTES = 256 << 20

export interface BwrapSpec {
  readonly system: readonly SystemPart[]
  readonly room: Room
  readonly env: ReadonlyMap<string, string>
  readonly cwd: string
  /** The network that bubblewrap is started in, for the room to keep; undefined for a room without one. */
  readonly network: RoomNetwork | undefined
  /** Written before the command starts. */
  readonly ipc: readonly IpcSetting[]
  /** Whether this bubblewrap takes the size of a tmpfs. */
  readonly takesSizes: boolean
}

/** The sandbox in the words of bubblewrap, up to where the command begins. */
export function bwrapArgv({ system, room, env, cwd, network, ipc, takesSizes }: BwrapSpec): string[] {
  const memory = (path: string, bytes: number): string[] => [
    ...(takesSizes ? ['--size', `${bytes}`] : []),
    '--perms',
    '1777',
    '--tmpfs',
    path,
  ]
  return [
    ...['--unshare-all', '--unshare-user', ...(network === undefined ? [] : ['--share-net'])],
    ...['--uid', `${INSIDE.uid}`, '--gid', `${INSIDE.gid}`, '--hostname', INSIDE.hostname],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--seccomp', `${FILTER_FD}`, '--json-status-fd', `${SETTINGS_FD + ipc.length}`],
    ...system.flatMap(systemFlags),
    ...(network?.files ?? []).flatMap(({ from, to }) => (room.rootfs === undefined ? ['--ro-bind-try', from, to] : [])),
    ...['--proc', '/proc', ...PROC_COVERS, '--dev', '/dev'],
    // The rest of /dev would else be memory that nobody counts.
    ...[...memory('/dev/shm', SHM_BYTES), '--remount-ro', '/dev'],
    ...ipcFlags(ipc),
    ...(room.tmp === undefined ? memory(INSIDE.tmp, TMP_BYTES) : ['--bind', room.tmp, INSIDE.tmp]),
    ...roomFlags(room),
    ...['--remount-ro', '/', '--chdir', pathInside(cwd, room)],
    // Never by its own environment: what a client puts there (LD_PRELOAD) would be obeyed outside of the sandbox.
    ...['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])],
  ]
}

/**
 * Bubblewrap has no word for settings of the kernel. It can fill files, though, as root of the room's namespaces; so for a moment
 * those of the machine's /proc lie where /tmp will be laid over them, for the room's own are closed to writing.
 */
const ipcFlags = (ipc: readonly IpcSetting[]): string[] =>
  ipc.length === 0
    ? []
    : [
        ...['--bind', '/proc/sys/kernel', INSIDE.tmp],
        ...ipc.flatMap(({ name }, i) => ['--file', `${SETTINGS_FD + i}`, `${INSIDE.tmp}/${name}`]),
      ]

const systemFlags = (part: SystemPart): string[] =>
  part.kind === 'bind' ? ['--ro-bind', part.from, part.to] : ['--symlink', part.target, part.at]

function roomFlags(room: Room): string[] {
  const closed = readOnlyPaths(room)
  const isClosed = closed.includes(room.path)
  return [
    ...[isClosed ? '--ro-bind' : '--bind', room.path, INSIDE.room],
    ...(isClosed ? [] : closed.flatMap((path) => ['--ro-bind', path, pathInside(path, room)])),
  ]
}
