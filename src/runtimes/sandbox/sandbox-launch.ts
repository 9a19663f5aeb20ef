import type { LauncherFacts, LaunchSpec } from '../launcher/launcher.ts'
import { type IpcWay, ipcSettingsOf } from '../namespaces/ipc-limits.ts'
import { problemInside } from '../namespaces/program-inside.ts'
import { belongsToRoot, type RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import { type SystemPart, systemOf } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { environmentInside, rootfsOf } from '../run/inside.ts'
import { mustBeName, mustBeRunnable, type ProgramProblem, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitFlags } from '../run/resource-limits.ts'
import type { Run } from '../run/runtime.ts'
import { argvInTerminal, TERMINAL_PROCESSES } from '../terminal/terminal-argv.ts'
import { bwrapArgv } from './bwrap-argv.ts'

/** Made once and used by every run. */
export interface SandboxKit {
  readonly bwrap: string
  readonly prlimit: string
  /** The file of the seccomp filter, and of the one that also refuses System V IPC. */
  readonly filter: string
  readonly filterWithoutIpc: string
  readonly system: readonly SystemPart[]
  readonly takesSizes: boolean
  readonly facts: LauncherFacts
}

/** Bubblewrap outside and the room's init inside. */
const OWN_PROCESSES = 2
const ownProcesses = ({ terminal }: Run): number => OWN_PROCESSES + (terminal === undefined ? 0 : TERMINAL_PROCESSES)
/** The levels from bubblewrap to the command. */
const DEPTH = 2
/** Bubblewrap's limit of arguments, including its own. */
const MOST_ARGUMENTS = 9000
/** Open files that bubblewrap needs to make a room. */
const LEAST_OPEN_FILES = 24

export interface NetworkedRun {
  readonly run: Run
  readonly network: RoomNetwork | undefined
}

/** Returns how to start bubblewrap for a run, or why the command cannot be started. */
export function sandboxLaunch(
  { run, network }: NetworkedRun,
  kit: SandboxKit & { readonly ipcWay: IpcWay },
  options: RoomRuntimeOptions,
): LaunchSpec | ProgramProblem {
  const { command, room, limits, hooks } = run
  mustBeRunnable(command)
  mustBeName(room.name)
  const cwd = workingDirectoryOf(command, room)
  const env = environmentInside(command, options.env)
  const rootfs = rootfsOf(room)
  const system = rootfs === undefined ? kit.system : systemOf(rootfs)
  const problem = rootfs === undefined && problemInside(command.argv[0] as string, env.get('PATH'), system)
  if (problem) return problem
  const wanted = ipcSettingsOf(run, kit.facts)
  const ipc = kit.ipcWay === 'limited' ? wanted : []
  const filter = wanted.length > 0 && kit.ipcWay === 'refused' ? kit.filterWithoutIpc : kit.filter
  const fds = { handed: [{ path: filter }, ...ipc.map(({ value }) => ({ text: value }))], hasStatus: true }
  const argv = [
    ...(network?.join ?? []),
    ...limited(run, kit),
    ...[kit.bwrap, ...bwrapArgv({ ...kit, system, room, env, cwd, network, ipc }), '--'],
    ...(rootfs === undefined ? countedInside(run, kit) : []),
    ...argvInTerminal(run, env, fds),
  ]
  if (argv.length > MOST_ARGUMENTS) return { code: 'E2BIG', what: `${argv.length} arguments are too many (E2BIG)` }
  const { pids } = limits
  return {
    ...{ name: room.name, argv, env: [], cwd: '/', user: room.user ?? options.user },
    hasInput: hooks.stdin !== undefined || belongsToRoot(options),
    outputBytes: limits.outputBytes ?? options.outputBytes,
    limits: { ...launchLimits(limits), pids: pids === undefined ? undefined : pids + ownProcesses(run) },
    ...{ ...fds, folders: foldersOf(room), depth: DEPTH, hasTerminal: run.terminal !== undefined },
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
function countedInside(run: Run, { facts, prlimit }: SandboxKit): readonly string[] {
  const { pids } = run.limits
  return pids === undefined || facts.pids === 'all' ? [] : [prlimit, `--nproc=${pids + ownProcesses(run) - 1}`, '--']
}
