/**
 * How far a room keeps a command from everything else, from the weakest on. `none`: another environment and, if so set
 * up, another user; `namespaces`: own processes, mounts, network and user, only chosen files in sight, but every system
 * call of the kernel in reach; `sandbox`: system calls filtered as well; `container`: an image's files instead of the
 * machine's.
 */
export const ISOLATION_LEVELS = ['none', 'namespaces', 'sandbox', 'container'] as const
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number]

/** Whether a room of this kind is enough for one who asks for that one. */
export const isolatesAs = (given: IsolationLevel, wanted: IsolationLevel): boolean =>
  ISOLATION_LEVELS.indexOf(given) >= ISOLATION_LEVELS.indexOf(wanted)
