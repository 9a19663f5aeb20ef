import type { Clock } from '../../base/clock.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { ImagePolicy } from '../images/image-cache.ts'
import type { RoomNetworks } from '../network/room-networks.ts'

export interface DockerOptions {
  readonly clock: Clock
  /** The socket of Docker or of Podman's Docker-compatible service. */
  readonly socketPath: string
  /** The worker's name, unique on this machine: containers labelled with it are ours to remove. */
  readonly worker: string
  /** A folder that only this runtime uses. */
  readonly folder: string
  readonly env: readonly EnvVariable[]
  /** The user that owns rooms and runs commands. Not root. */
  readonly user: { readonly uid: number; readonly gid: number }
  /** The limit of each stream when the command has none. */
  readonly outputBytes: number
  readonly images: ImagePolicy
  /** Networks for commands that may use one; without it such commands are refused. */
  readonly networks?: RoomNetworks
  /** The engine's network that stands for the machine's own network where that is granted; default `host`. */
  readonly machineNetwork?: string
  /** The architecture, as Node names it. */
  readonly arch: string
  /** Whether the worker is root. */
  readonly isRoot: boolean
  /** Whether to use our own control groups around containers where possible; default true. */
  readonly useGroups?: boolean
}
