import type { Clock } from '../../base/clock.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { Launcher, LauncherFacts } from '../launcher/launcher.ts'
import { noNetworks, type RoomNetwork, type RoomNetworks } from '../network/room-networks.ts'
import type { KeptLimits, Run } from '../run/runtime.ts'

/** The options of runtimes that make rooms with namespaces. */
export interface RoomRuntimeOptions {
  readonly launcher: Launcher
  readonly clock: Clock
  /** Default environment variables, which override the fixed ones. */
  readonly env: readonly EnvVariable[]
  /** The user that owns rooms outside; undefined for the worker's own. Only root can choose another. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  /** Whether the worker is root. */
  readonly isRoot: boolean
  /** The limit of each stream when the command has none. */
  readonly outputBytes: number
  /** A folder that only this runtime uses and that the user above can reach. */
  readonly folder: string
  /** Further folders of the machine that rooms see read-only. */
  readonly readable?: readonly string[]
  /** Networks for commands that may use one; without it such commands are refused. */
  readonly networks?: RoomNetworks
}

/**
 * Rooms of a root worker without another user run as root under another uid, so a room could change files of root that
 * it can reach. Therefore it inherits no descriptor of a shared file. Its input is not even /dev/null, because the room
 * could change its mode.
 */
export const belongsToRoot = ({ isRoot, user }: Pick<RoomRuntimeOptions, 'isRoot' | 'user'>): boolean =>
  isRoot && (user === undefined || user.uid === 0)

const NO_NETWORKS = noNetworks('this worker grants none')

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

/** Notes on missing protection. */
export const notesOn = (facts: LauncherFacts, { user, isRoot }: RoomRuntimeOptions): readonly string[] =>
  [
    isRoot &&
      user === undefined &&
      'rooms run as root under another uid: they can change files of root that they can reach',
    facts.tree === 'marker' && 'no control groups: processor time and memory are sampled',
    facts.pids === 'not' && isRoot && user === undefined && 'the number of processes is not limited',
    facts.cpus === 'not' && 'a share of processors cannot be limited',
  ].filter((note) => note !== false)
