import type { TerminalSize } from '../../model/live-input.ts'

/**
 * Starts processes and ends them with all their descendants. `local-launcher.ts` does it in this process, `spawner/` in
 * a small child process.
 */
export interface Launcher {
  facts(): Promise<LauncherFacts>
  /** Announces a launch, so that slow preparations run now. The call is cheap when no launch follows. */
  expect(): void
  start(order: LaunchSpec, listener: LaunchListener): Launch
  /** Ends everything that was started. */
  close(): Promise<void>
}

/** The features that this machine supports. */
export interface LauncherFacts {
  /** How the processes of a launch are found: by control group, or by scanning all processes. */
  readonly tree: 'group' | 'marker'
  readonly memory: 'all' | 'watched'
  readonly pids: 'all' | 'not'
  readonly cpus: 'all' | 'not'
  /** Output uses pipes that can be opened by name (`/dev/stdout`), not sockets. */
  readonly pipes: boolean
}

/** All fields can be encoded as JSON. */
export interface LaunchSpec {
  /** Unique per launch. */
  readonly name: string
  readonly argv: readonly string[]
  readonly env: readonly (readonly [name: string, value: string])[]
  readonly cwd: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly hasInput: boolean
  /** The limit of each stream; the listener gets at most this and a tail. */
  readonly outputBytes: number
  readonly limits: LaunchLimits
  /** Files that it inherits after its standard streams: descriptors 3, 4, … */
  readonly handed?: readonly Handed[]
  /**
   * The next descriptor is a status pipe, whose text is reported at the end. `"child-pid": N` in it names the first
   * process of the pid namespace, before the command runs there.
   */
  readonly hasStatus?: boolean
  /** The program makes a pid namespace and does not report the namespace's init, so the launcher searches for it. */
  readonly hidesInit?: boolean
  /** The folders that count as its disk space. */
  readonly folders?: readonly string[]
  /** How many levels below the first process the command's process is. The processes between them make the room. */
  readonly depth?: number
  /**
   * The program makes a terminal for its command and reads the terminal's sizes from one more descriptor, after all
   * others.
   */
  readonly hasTerminal?: boolean
  /** The command waits until it is released. Limits are watched from then on. */
  readonly isHeld?: boolean
}

/** An existing file, or one without a name. */
export type Handed = { readonly path: string } | { readonly text: string }

export interface LaunchLimits {
  readonly memoryBytes: number | undefined
  readonly pids: number | undefined
  readonly cpuMs: number | undefined
  readonly cpus?: number | undefined
  readonly diskBytes?: number | undefined
  readonly outputFloodBytes?: number | undefined
}

export type OutputName = 'stdout' | 'stderr'

export interface LaunchListener {
  started(): void
  /** The bytes are valid during the call only. */
  output(stream: OutputName, bytes: Uint8Array): void
  /**
   * The process wrote more than the limit: the number of dropped bytes, and the last of them. Called at most once,
   * after all output.
   */
  dropped(stream: OutputName, droppedBytes: number, tail: Uint8Array): void
  /** The last call, when all processes are dead. */
  ended(end: LaunchEnd): void
}

export interface Launch {
  /** Resolves when the caller may write more. Input that the process no longer reads is discarded. */
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  /** Kills all processes of the launch. */
  stop(): void
  /**
   * Sends a signal to the command, or to the foreground process group of its terminal. `signal` and `resize` wait
   * briefly for a command that has not started yet.
   */
  signal?(name: NodeJS.Signals): void
  resize?(size: TerminalSize): void
  /** Releases a held launch. */
  release?(): void
}

export type LaunchEnd =
  | { readonly kind: 'exited'; readonly exit: LaunchExit }
  /** The system refused to start it; `code` is the error code (ENOENT, …). */
  | { readonly kind: 'refused'; readonly code: string; readonly what: string }
  /** The launcher itself failed. The processes are dead. */
  | { readonly kind: 'lost'; readonly what: string }

export interface LaunchExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The exceeded limit, if it was killed for that. */
  readonly over: 'cpu' | 'memory' | 'disk' | 'output' | undefined
  /** The text of the status pipe. */
  readonly status?: string | undefined
  /** A fork was refused because of the limit. */
  readonly pidsRefused: boolean
  /** Processes could not be killed or kept the output open: output and usage may be incomplete. */
  readonly hasSurvivors: boolean
  readonly usage: LaunchUsage
  /**
   * Wall time from the start to the end of the first process, measured by the launcher: messages about both arrive
   * later.
   */
  readonly wallMs?: number
}

export interface LaunchUsage {
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
  readonly how: 'counted' | 'sampled'
}
