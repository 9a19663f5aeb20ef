/** How a step of a build tells of itself, and is stopped. */
export interface BuildStep {
  /** What is done, and how much of it, from 0 to 1, where that is known. */
  readonly told: (what: string, part: number | undefined) => void
  readonly signal: AbortSignal
}

/** What the tools of a build find in their environment, on whatever machine. */
export const TOOL_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
} as const
