/**
 * How strongly a room isolates a command, weakest first. `none`: its own environment and, if configured, another user;
 * `namespaces`: its own processes, mounts, network and user, only selected files visible, but all system calls;
 * `sandbox`: system calls filtered as well; `container`: the files of an image instead of the machine's.
 */
export const ISOLATION_LEVELS = ['none', 'namespaces', 'sandbox', 'container'] as const
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number]

/** Whether a room of this level satisfies a request for that level. */
export const isolatesAs = (given: IsolationLevel, wanted: IsolationLevel): boolean =>
  ISOLATION_LEVELS.indexOf(given) >= ISOLATION_LEVELS.indexOf(wanted)
