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

/** What is made once, and used by every run. */
export interface SandboxKit {
  readonly bwrap: string
  readonly prlimit: string
  /** The file with the filter of system calls; and one with which there is no System V either. */
  readonly filter: string
  readonly filterWithoutIpc: string
  readonly system: readonly SystemPart[]
  readonly takesSizes: boolean
  readonly facts: LauncherFacts
}

/** The program outside and the first process inside. */
const OWN_PROCESSES = 2
const ownProcesses = ({ terminal }: Run): number => OWN_PROCESSES + (terminal === undefined ? 0 : TERMINAL_PROCESSES)
/** From the program outside to the command. */
const DEPTH = 2
/** It takes so many arguments, its own included. */
const MOST_ARGUMENTS = 9000
/** To make a room it needs some itself. */
const LEAST_OPEN_FILES = 24

export interface NetworkedRun {
  readonly run: Run
  readonly network: RoomNetwork | undefined
}

/** How bubblewrap is to be started for a run; or why the command cannot be. */
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

/** Before bubblewrap, and handed down by it: a rootfs need not have a program for this. */
function limited({ limits }: Run, { prlimit }: SandboxKit): readonly string[] {
  const { openFiles } = limits
  const files = openFiles === undefined ? {} : { openFiles: Math.max(openFiles, LEAST_OPEN_FILES) }
  const flags = limitFlags({ ...limits, ...files })
  return flags.length === 0 ? [] : [prlimit, ...flags, '--']
}

/**
 * Where no control group counts processes, the kernel counts them per user of a user namespace, and each room has one of its
 * own: so the limit is the room's. Root is not counted.
 */
function countedInside(run: Run, { facts, prlimit }: SandboxKit): readonly string[] {
  const { pids } = run.limits
  return pids === undefined || facts.pids === 'all' ? [] : [prlimit, `--nproc=${pids + ownProcesses(run) - 1}`, '--']
}
