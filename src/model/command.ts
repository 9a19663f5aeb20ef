import type { Digest } from '../base/digest.ts'

/**
 * A command to run, independent of the door: a build action, a workflow step and a snippet are all lowered to this. It
 * contains neither the caller nor the worker.
 */
export interface Command {
  /** The program first. With a slash it is a path from the working directory, else it is looked for in the PATH declared. */
  readonly argv: readonly string[]
  /** All that the program gets, apart from the few defaults that a worker documents. */
  readonly env: readonly EnvVariable[]
  /** From the root of the inputs, with slashes; empty for the root itself. */
  readonly workingDirectory: string
  readonly inputs: CommandInputs
  readonly outputs: RequestedOutputs
  readonly platform: readonly PlatformProperty[]
  /** The container image, where the runtime takes one. */
  readonly image: string | undefined
  readonly limits: Limits
  readonly network: boolean
  readonly cacheable: boolean
}

export interface EnvVariable {
  readonly name: string
  readonly value: string
}

export interface PlatformProperty {
  readonly name: string
  readonly value: string
}

/** Laid out over each other in this order; the same path twice is an error. */
export interface CommandInputs {
  /** The digest of a Directory message; all of its descendants are blobs too. Undefined for no tree. */
  readonly root: Digest | undefined
  readonly files: readonly InlineFile[]
  readonly uris: readonly UriInput[]
}

/** A small file that travels with the command, such as the code of a snippet. */
export interface InlineFile {
  /** From the root of the inputs, with slashes. */
  readonly path: string
  readonly contents: Uint8Array
  readonly executable: boolean
}

/** A file that a stager fetches, selected by the scheme of its URI. */
export interface UriInput {
  readonly path: string
  readonly uri: string
}

/** The outputs to collect when the command has ended. Missing files are left out. */
export interface RequestedOutputs {
  readonly paths: RequestedPaths
  /** Patterns of files from the working directory: `*`, `**`, `?`, `[…]` and `{…}`. */
  readonly globs: readonly string[]
  readonly directoryFormat: DirectoryFormat
  readonly properties: readonly OutputProperty[]
}

/** Paths relative to the working directory. Clients before API 2.1 also declare the type of each. */
export type RequestedPaths =
  | { readonly kind: 'any'; readonly paths: readonly string[] }
  | { readonly kind: 'typed'; readonly files: readonly string[]; readonly directories: readonly string[] }

/** As one Tree blob, as a Directory blob for each level, or both. */
export type DirectoryFormat = 'tree' | 'directories' | 'both'

export type OutputProperty = 'mtime' | 'unixMode'

/** Limits of a command; a field that is left out means that the command sets no limit. */
export interface Limits {
  /** From its start to its end; waiting, fetching inputs and storing outputs do not count. */
  readonly wallMs?: number
  /** Processor time of all its processes together. */
  readonly cpuMs?: number
  readonly memoryBytes?: number
  /** Processes and threads at a time. */
  readonly pids?: number
  /** The size of any one file that it writes. */
  readonly fileBytes?: number
  /** Bytes kept of standard output, and the same number of standard error. More is cut from the middle. */
  readonly outputBytes?: number
  /** Open files of any one process. */
  readonly openFiles?: number
  /** The size of its room, inputs and temporary files included; every name counts as at least 512 bytes. */
  readonly diskBytes?: number
  /** Bytes of both streams together. A command that writes more is killed. */
  readonly outputFloodBytes?: number
  /** Processors' worth of time at any moment, as in 1.5. */
  readonly cpus?: number
}

/** The lower value of each limit. */
export function strictest(one: Limits, other: Limits): Limits {
  const limits: { -readonly [K in keyof Limits]: Limits[K] } = {}
  for (const name of Object.keys({ ...one, ...other }) as (keyof Limits)[]) {
    const lower = Math.min(one[name] ?? Number.POSITIVE_INFINITY, other[name] ?? Number.POSITIVE_INFINITY)
    if (lower < Number.POSITIVE_INFINITY) limits[name] = lower
  }
  return limits
}
