import { FaultError } from '../../base/fault.ts'

/** Gives rooms a network: a new one for each run that may use one, closed after it. */
export interface RoomNetworks {
  /** Why rooms of this user cannot have a network on this machine; undefined when they can. */
  problem(user: NetworkUser): Promise<string | undefined>
  /** Throws `unavailable` when no network can be made. */
  open(user: NetworkUser): Promise<RoomNetwork>
  /**
   * Turns the network namespace of a process into such a network, for containers, whose namespaces the engine makes.
   * Not available for the machine's own network.
   */
  connect(pid: number): Promise<RoomNetwork>
  /** The network is the machine's own: rooms can reach every address. */
  readonly isMachine: boolean
}

/** The user that rooms belong to; undefined for the worker's own. */
export type NetworkUser = { readonly uid: number; readonly gid: number } | undefined

export interface RoomNetwork extends AsyncDisposable {
  /** The arguments before a program that is to run in this network; none for the machine's own. */
  readonly join: readonly string[]
  /** Files that a room sees in place of its own, because names resolve differently in this network. */
  readonly files: readonly { readonly from: string; readonly to: string }[]
}

const NAME_FILES = ['/etc/resolv.conf', '/etc/hosts'] as const

/** The machine's own network, with its loopback and its neighbours. */
export const hostNetworks = (): RoomNetworks => ({
  isMachine: true,
  connect: () =>
    Promise.reject(noRoomNetwork('the network of the machine cannot be connected to a separate namespace')),
  problem: async () => undefined,
  open: async () => ({
    join: [],
    files: NAME_FILES.map((path) => ({ from: path, to: path })),
    [Symbol.asyncDispose]: async () => {},
  }),
})

/** Refuses a network for every room, with this reason. */
export const noNetworks = (reason: string): RoomNetworks => ({
  isMachine: false,
  connect: () => Promise.reject(noRoomNetwork(reason)),
  problem: async () => reason,
  open: () => Promise.reject(noRoomNetwork(reason)),
})

/** Retryable: another worker may have a network. */
export const noRoomNetwork = (reason: string, cause?: unknown): FaultError =>
  new FaultError({ kind: 'unavailable', what: `no network for the room: ${reason}` }, cause)
