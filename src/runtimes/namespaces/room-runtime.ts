import type { Clock } from '../../base/clock.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { Launcher, LauncherFacts } from '../launcher/launcher.ts'
import { noNetworks, type RoomNetwork, type RoomNetworks } from '../network/room-networks.ts'
import type { KeptLimits, Run } from '../run/runtime.ts'

/** What the runtimes that make rooms with namespaces are given. */
export interface RoomRuntimeOptions {
  readonly launcher: Launcher
  readonly clock: Clock
  /** What a command finds in its environment where it does not say otherwise, over the few that are fixed. */
  readonly env: readonly EnvVariable[]
  /** Who rooms belong to outside; undefined for the worker's own user. Only root can name another. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  /** Whether the worker is root. */
  readonly isRoot: boolean
  /** Of each stream, where no limit is said. */
  readonly outputBytes: number
  /** A folder of this runtime alone, which the user above can reach. */
  readonly folder: string
  /** Further folders of the machine that rooms see as they are, and cannot change. */
  readonly readable?: readonly string[]
  /** Networks for the rooms of commands that may use one; such commands are refused when left out. */
  readonly networks?: RoomNetworks
}

/**
 * Rooms belong to root under another number, and what root owns on this machine is theirs to change if they get hold of it. So
 * they are given no descriptor of a file that others use: not even /dev/null, whose mode they could change, as their input.
 */
export const belongsToRoot = ({ isRoot, user }: Pick<RoomRuntimeOptions, 'isRoot' | 'user'>): boolean =>
  isRoot && (user === undefined || user.uid === 0)

const NO_NETWORKS = noNetworks('this worker gives none')

/** The network for a run that may use one; undefined for any other run. */
export const networkFor = async ({ command, room }: Run, options: NetworkOptions): Promise<RoomNetwork | undefined> =>
  command.network ? await (options.networks ?? NO_NETWORKS).open(room.user ?? options.user) : undefined

/** Why rooms of this runtime cannot have a network; undefined when they can. */
export const networkProblem = ({ networks = NO_NETWORKS, user }: NetworkOptions): Promise<string | undefined> =>
  networks.problem(user)

type NetworkOptions = Pick<RoomRuntimeOptions, 'networks' | 'user'>

export const keptLimits = (facts: LauncherFacts, { isRoot, user }: RoomRuntimeOptions): KeptLimits => ({
  wallMs: 'all',
  cpuMs: 'watched',
  memoryBytes: facts.memory,
  pids: facts.pids === 'all' || !isRoot || user !== undefined ? 'all' : 'not',
  fileBytes: 'each',
  outputBytes: 'all',
  openFiles: 'each',
  diskBytes: 'watched',
  outputFloodBytes: 'all',
  cpus: facts.cpus,
})

/** What falls short of what one would wish for. */
export const notesOn = (facts: LauncherFacts, { user, isRoot }: RoomRuntimeOptions): readonly string[] =>
  [
    isRoot && user === undefined && 'rooms belong to root, under another name: files of root that they see are theirs',
    facts.tree === 'marker' && 'no control groups: processor time and memory are looked at now and then',
    facts.pids === 'not' && isRoot && user === undefined && 'the number of processes is not limited',
    facts.cpus === 'not' && 'a share of processors cannot be laid down',
  ].filter((note) => note !== false)
