import type { Clock } from '../../base/clock.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { ImagePolicy } from '../images/image-cache.ts'
import type { RoomNetworks } from '../network/room-networks.ts'

export interface DockerOptions {
  readonly clock: Clock
  /** Of the engine: Docker's own, or the one that Podman serves. */
  readonly socketPath: string
  /** Of the worker, unlike that of any other worker of this machine: containers under it are ours to remove. */
  readonly worker: string
  /** A folder of this runtime alone. */
  readonly folder: string
  readonly env: readonly EnvVariable[]
  /** Who rooms belong to, and who commands run as. Not root. */
  readonly user: { readonly uid: number; readonly gid: number }
  /** Of each stream, where no limit is said. */
  readonly outputBytes: number
  readonly images: ImagePolicy
  /** Networks for commands that may use one; such commands are refused when left out. */
  readonly networks?: RoomNetworks
  /** Where the machine's own network is granted: what stands for it, as the engine calls it; `host` if not said. */
  readonly machineNetwork?: string
  /** Of this machine, as Node names it. */
  readonly arch: string
  /** Whether the worker is root. */
  readonly isRoot: boolean
  /** Control groups of our own around containers are used wherever they can be, unless this says no. */
  readonly useGroups?: boolean
}
