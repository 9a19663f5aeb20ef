import type { TerminalSize } from '../../model/live-input.ts'

/**
 * Starts processes and ends them whole: with a process go all that it started, wherever they went. `local-launcher.ts`
 * does it in this process, `spawner/` in a small one beside it.
 */
export interface Launcher {
  facts(): Promise<LauncherFacts>
  /** Says that an order is about to come: what takes long is done beforehand. Costs little when none comes. */
  expect(): void
  start(order: LaunchSpec, listener: LaunchListener): Launch
  /** Ends everything that was started. */
  close(): Promise<void>
}

/** What this machine lets it do. */
export interface LauncherFacts {
  /** How the processes of one order are found: by their control group, or by looking through all processes. */
  readonly tree: 'group' | 'marker'
  readonly memory: 'all' | 'watched'
  readonly pids: 'all' | 'not'
  readonly cpus: 'all' | 'not'
  /** Output goes through pipes that can be opened by name (`/dev/stdout`), and not through sockets. */
  readonly pipes: boolean
}

/** All values can be told as JSON. */
export interface LaunchSpec {
  /** Unlike that of any other. */
  readonly name: string
  readonly argv: readonly string[]
  readonly env: readonly (readonly [name: string, value: string])[]
  readonly cwd: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly hasInput: boolean
  /** Of each stream; the listener gets no more than these and a tail. */
  readonly outputBytes: number
  readonly limits: LaunchLimits
  /** What it finds open to read beyond its standard streams: file descriptors 3, 4, … */
  readonly handed?: readonly Handed[]
  /**
   * After those comes one that it may write a few words to, told at its end. `"child-pid": N` in them names the first process of
   * the pid namespace that it made, before the command runs there.
   */
  readonly hasStatus?: boolean
  /** It makes a pid namespace and does not name its first process, which has to be looked for. */
  readonly hidesInit?: boolean
  /** What counts as its disk space. */
  readonly folders?: readonly string[]
  /** How far below its first process the command's own is: those between make its room. */
  readonly depth?: number
  /** It makes a terminal for its command, and finds one more descriptor, after all others, to read the terminal's sizes from. */
  readonly hasTerminal?: boolean
  /** It waits for something of its own accord; what it uses is looked after from its release on. */
  readonly isHeld?: boolean
}

/** A file that is there already, or one that never has a name. */
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
  /** More was written than is handed over: so many bytes are not, and these were the last. Comes once at most, after all output. */
  dropped(stream: OutputName, droppedBytes: number, tail: Uint8Array): void
  /** The last call: all processes are dead. */
  ended(end: LaunchEnd): void
}

export interface Launch {
  /** Resolves when more may be written; what nobody reads any more is dropped. */
  write(bytes: Uint8Array): Promise<void>
  endInput(): void
  /** Kills all processes of the order. */
  stop(): void
  /** To the command, or to what is in the foreground of its terminal. Both wait a moment for one that is not there yet. */
  signal?(name: NodeJS.Signals): void
  resize?(size: TerminalSize): void
  /** Of one that was held. */
  release?(): void
}

export type LaunchEnd =
  | { readonly kind: 'exited'; readonly exit: LaunchExit }
  /** The system refused to start it; `code` is its word for why. */
  | { readonly kind: 'refused'; readonly code: string; readonly what: string }
  /** The launcher itself failed. The processes are dead. */
  | { readonly kind: 'lost'; readonly what: string }

export interface LaunchExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The limit over which it was killed. */
  readonly over: 'cpu' | 'memory' | 'disk' | 'output' | undefined
  /** What it wrote there, where it could. */
  readonly status?: string | undefined
  /** A process was refused because there were too many. */
  readonly pidsRefused: boolean
  /** Processes could not be killed, or kept the output open: what is said here may not be all. */
  readonly hasSurvivors: boolean
  readonly usage: LaunchUsage
  /** From its start to the end of its first process, by who started it: whoever is told of both hears of them late. */
  readonly wallMs?: number
}

export interface LaunchUsage {
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
  readonly how: 'counted' | 'sampled'
}
