/** How a step of a build reports progress, and is stopped. */
export interface BuildStep {
  /** The action, and its progress from 0 to 1, where that is known. */
  readonly onProgress: (what: string, part: number | undefined) => void
  readonly signal: AbortSignal
}

/** The environment of the build's tools, the same on every machine. */
export const TOOL_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
} as const
