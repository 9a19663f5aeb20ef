import type { LaunchSpec } from '../launcher/launcher.ts'
import { type IpcSetting, type IpcWay, ipcSettings } from '../namespaces/ipc-limits.ts'
import type { RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import { systemOf } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { environmentInside, INSIDE, pathInside, readOnlyPaths, rootfsOf } from '../run/inside.ts'
import { mustBeName, mustBeRunnable, type ProgramProblem, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitFlags } from '../run/resource-limits.ts'
import type { Room, Run } from '../run/runtime.ts'
import { argvInTerminal, TERMINAL_PROCESSES } from '../terminal/terminal-argv.ts'
import { type SandboxKit, systemFlags } from './sandbox-kit.ts'

/** Bubblewrap outside, and the room's init inside. */
const OWN_PROCESSES = 2
/** The levels from bubblewrap to the command. */
const DEPTH = 2
/** Bubblewrap's limit of arguments, including its own. */
const MOST_ARGUMENTS = 9000
/** Open files that bubblewrap needs to make a room. */
const LEAST_OPEN_FILES = 24
/** The descriptors of the filter and of the settings, one each, followed by the status pipe. */
const FILTER_FD = 3
const SETTINGS_FD = 4
const SHM_BYTES = 64 << 20
/** For rooms without a folder for temporary files. */
const TMP_BYTES = 256 << 20

export interface SandboxRun {
  readonly run: Run
  /** The network namespace that bubblewrap is started in and keeps; undefined for a room without a network. */
  readonly network: RoomNetwork | undefined
  readonly ipcWay: IpcWay
}

/** Returns how to start bubblewrap for a run, or why the command cannot be started. */
export function sandboxLaunch(
  { run, network, ipcWay }: SandboxRun,
  kit: SandboxKit,
  options: RoomRuntimeOptions,
): LaunchSpec | ProgramProblem {
  const { command, room, limits, hooks, terminal } = run
  mustBeRunnable(command)
  mustBeName(room.name)
  const cwd = workingDirectoryOf(command, room)
  const env = environmentInside(command, options.env)
  const rootfs = room.rootfs === undefined ? undefined : rootfsOf(room)
  const problem = rootfs === undefined && kit.programProblem(command.argv[0] as string, env.get('PATH'))
  if (problem) return problem
  const isUncounted = limits.memoryBytes !== undefined && kit.facts.memory !== 'all'
  const ipc = isUncounted && ipcWay === 'limited' ? ipcSettings(limits.memoryBytes) : []
  const filter = isUncounted && ipcWay === 'refused' ? kit.filterWithoutIpc : kit.filter
  const fds = { handed: [{ path: filter }, ...ipc.map(({ value }) => ({ text: value }))], hasStatus: true }
  const system = rootfs === undefined ? kit.systemFlags : systemOf(rootfs).flatMap(systemFlags)
  const own = OWN_PROCESSES + (terminal === undefined ? 0 : TERMINAL_PROCESSES)
  const argv = [
    ...(network?.join ?? []),
    ...limited(run, kit),
    ...[kit.bwrap, ...bwrapArgv({ system, room, env, cwd, network, ipc, takesSizes: kit.takesSizes }), '--'],
    ...(rootfs === undefined ? countedInside(run, own, kit) : []),
    ...(terminal === undefined ? command.argv : argvInTerminal(run, env, fds)),
  ]
  if (argv.length > MOST_ARGUMENTS) return { code: 'E2BIG', what: `${argv.length} arguments are too many (E2BIG)` }
  const { pids } = limits
  return {
    ...{ name: room.name, argv, env: [], cwd: '/', user: room.user ?? options.user },
    hasInput: hooks.stdin !== undefined || kit.isRoots,
    outputBytes: limits.outputBytes ?? options.outputBytes,
    limits: { ...launchLimits(limits), pids: pids === undefined ? undefined : pids + own },
    ...{ ...fds, folders: foldersOf(room), depth: DEPTH, hasTerminal: terminal !== undefined },
    isHeld: run.held !== undefined,
  }
}

/** Set before bubblewrap and inherited: a rootfs need not contain prlimit(1). */
function limited({ limits }: Run, { prlimit }: SandboxKit): readonly string[] {
  const { openFiles } = limits
  const files = openFiles === undefined ? {} : { openFiles: Math.max(openFiles, LEAST_OPEN_FILES) }
  const flags = limitFlags({ ...limits, ...files })
  return flags.length === 0 ? [] : [prlimit, ...flags, '--']
}

/**
 * Without a control group the kernel counts processes per user of a user namespace, and each room has its own, so the
 * limit applies to the room. Root is not counted.
 */
function countedInside({ limits: { pids } }: Run, own: number, { facts, prlimit }: SandboxKit): readonly string[] {
  return pids === undefined || facts.pids === 'all' ? [] : [prlimit, `--nproc=${pids + own - 1}`, '--']
}

/**
 * Parts of /proc that a command must not access. The room's init runs as the command's user: a command that writes to
 * its memory could report a false exit and survive. Kernel settings belong to root, and a room's user may be root. The
 * settings of the room's IPC namespace are limits. bubblewrap leaves them writable where it cannot write to the
 * directory itself.
 */
const PROC_COVERS = [
  ...['--tmpfs', '/proc/1', '--remount-ro', '/proc/1'],
  ...['--ro-bind', '/proc/sys', '/proc/sys', '--ro-bind-try', '/proc/sysrq-trigger', '/proc/sysrq-trigger'],
]

interface BwrapSpec extends Pick<SandboxRun, 'network'> {
  readonly system: readonly string[]
  readonly room: Room
  readonly env: ReadonlyMap<string, string>
  readonly cwd: string
  /** Written before the command starts. */
  readonly ipc: readonly IpcSetting[]
  /** Whether this bubblewrap supports the size of a tmpfs. */
  readonly takesSizes: boolean
}

/** Returns the arguments of bubblewrap that come before the command. */
function bwrapArgv({ system, room, env, cwd, network, ipc, takesSizes }: BwrapSpec): string[] {
  const memory = (path: string, bytes: number): string[] => [
    ...(takesSizes ? ['--size', `${bytes}`] : []),
    ...['--perms', '1777', '--tmpfs', path],
  ]
  return [
    ...['--unshare-all', '--unshare-user', ...(network === undefined ? [] : ['--share-net'])],
    ...['--uid', `${INSIDE.uid}`, '--gid', `${INSIDE.gid}`, '--hostname', INSIDE.hostname],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--seccomp', `${FILTER_FD}`, '--json-status-fd', `${SETTINGS_FD + ipc.length}`],
    ...system,
    ...(network?.files ?? []).flatMap(({ from, to }) => (room.rootfs === undefined ? ['--ro-bind-try', from, to] : [])),
    ...['--proc', '/proc', ...PROC_COVERS, '--dev', '/dev'],
    // Otherwise the rest of /dev would be a tmpfs without a limit.
    ...[...memory('/dev/shm', SHM_BYTES), '--remount-ro', '/dev'],
    ...(ipc.length === 0 ? [] : ipcFlags(ipc)),
    ...(room.tmp === undefined ? memory(INSIDE.tmp, TMP_BYTES) : ['--bind', room.tmp, INSIDE.tmp]),
    ...(room.readOnly === undefined ? ['--bind', room.path, INSIDE.room] : closedFlags(room)),
    ...['--remount-ro', '/', '--chdir', pathInside(cwd, room)],
    // Not through bubblewrap's own environment: a client's variable (LD_PRELOAD) would take effect outside the sandbox.
    ...['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])],
  ]
}

/**
 * Bubblewrap has no option for sysctl settings, but it can write files as root of the room's namespaces. So the
 * machine's /proc/sys is mounted briefly where /tmp is mounted over it later, because the room's own is read-only.
 */
const ipcFlags = (ipc: readonly IpcSetting[]): string[] => [
  ...['--bind', '/proc/sys/kernel', INSIDE.tmp],
  ...ipc.flatMap(({ name }, i) => ['--file', `${SETTINGS_FD + i}`, `${INSIDE.tmp}/${name}`]),
]

/** The room, with the parts that the command may not change. */
function closedFlags(room: Room): string[] {
  const closed = readOnlyPaths(room)
  if (closed.includes(room.path)) return ['--ro-bind', room.path, INSIDE.room]
  return ['--bind', room.path, INSIDE.room, ...closed.flatMap((path) => ['--ro-bind', path, pathInside(path, room)])]
}
