import type { IpcSetting } from '../namespaces/ipc-limits.ts'
import type { SystemPart } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

/** The descriptors of the filter and of the settings, one each, followed by the status pipe. */
const FILTER_FD = 3
const SETTINGS_FD = 4

/**
 * Parts of /proc that a command must not reach. The room's init runs as the command's user: a command that writes to
 * its memory could report a false end and survive. Kernel settings belong to root, which a room's user may be, and
 * those of the room's IPC namespace are limits; bubblewrap leaves them writable where it cannot write to the directory
 * itself.
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
  /** The network namespace that bubblewrap is started in and keeps; undefined for a room without a network. */
  readonly network: RoomNetwork | undefined
  /** Written before the command starts. */
  readonly ipc: readonly IpcSetting[]
  /** Whether this bubblewrap supports the size of a tmpfs. */
  readonly takesSizes: boolean
}

/** Returns the arguments of bubblewrap that come before the command. */
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
    // Otherwise the rest of /dev would be a tmpfs without a limit.
    ...[...memory('/dev/shm', SHM_BYTES), '--remount-ro', '/dev'],
    ...ipcFlags(ipc),
    ...(room.tmp === undefined ? memory(INSIDE.tmp, TMP_BYTES) : ['--bind', room.tmp, INSIDE.tmp]),
    ...roomFlags(room),
    ...['--remount-ro', '/', '--chdir', pathInside(cwd, room)],
    // Not through bubblewrap's own environment: a client's variable (LD_PRELOAD) would take effect outside the sandbox.
    ...['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])],
  ]
}

/**
 * Bubblewrap has no option for sysctl settings, but it can write files as root of the room's namespaces. So the
 * machine's /proc/sys is mounted briefly where /tmp is mounted over it later, because the room's own is read-only.
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
