import type { Command, Limits } from '../../model/command.ts'
import type { RoomPlace } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { InputSignal, TerminalSize } from '../../model/live-input.ts'

/**
 * Runs one command in a room, within limits. A command that exits with 1, is killed, runs out of time or cannot even
 * be started has an end like any other: that is a result. What throws is a fault of the grid or of the one who asked:
 * `invalid` when no worker could ever run it (no argv, a working directory that is not there), `unavailable` when this
 * one could not.
 */
export interface Runtime {
  readonly name: RuntimeName
  /** Whether it works on this machine. Asked once, at the start of a worker. */
  probe(): Promise<RuntimeProbe>
  /** Says that a run is about to come: what takes long is done beforehand. Costs little when none comes. */
  expect(): void
  /**
   * Resolves when every process that the command has started is dead and all of its output has been handed over.
   * Aborting the signal ends the run with the cause `cancelled`.
   */
  run(run: Run, signal: AbortSignal): Promise<RunEnd>
}

export type RuntimeName = 'bare' | 'unshare' | 'sandbox' | 'docker' | 'apptainer'

export type RuntimeProbe =
  | {
      readonly works: true
      readonly isolation: IsolationLevel
      readonly limits: KeptLimits
      readonly keeps: Kept
      readonly notes: readonly string[]
      /** Why a command that may use a network cannot have one here; undefined when it can. Makes one to find out. */
      readonly networkProblem: () => Promise<string | undefined>
    }
  | { readonly works: false; readonly reason: string }

/**
 * How each limit is kept here: by the kernel for `all` processes of the command together, by the kernel for `each` process, by looking
 * on from time to time and killing (`watched`), or `not` at all.
 */
export type KeptLimits = Readonly<Record<keyof Limits, 'all' | 'each' | 'watched' | 'not'>>

/** What else is kept here, when a command asks for it. What is not is let pass, but for a rootfs, which is refused. */
export interface Kept {
  /** Without the word of a command it has no network. */
  readonly network: boolean
  /** Parts of its room may be closed to its writing. */
  readonly readOnly: boolean
  /** It may see another system than that of this machine. */
  readonly rootfs: boolean
  /** Somebody may hold its reins; and it may have a terminal, which is refused where it may not. */
  readonly reins: boolean
  readonly terminal: boolean
}

/** The directory, and what belongs to it, that one attempt runs in. */
export interface Room {
  /** Unlike that of any other room of this machine; letters, digits, dots, dashes and underscores. */
  readonly name: string
  /** The root of the inputs: an absolute path without symlinks. */
  readonly path: string
  /** Where temporary files go; gone with the room. */
  readonly tmp: string | undefined
  /** The user that it belongs to and that its command runs as; that of the runtime when left out. Only root can name one. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Files and directories from the root that the command may read but not change; '' for all of it. */
  readonly readOnly?: readonly string[]
  /** A directory with the system that the command sees in place of this machine's: an absolute path without symlinks. */
  readonly rootfs?: string
  /** What a container of Docker's shows of it elsewhere, too; nobody else is asked for that. */
  readonly places?: readonly RoomPlace[]
}

export interface Run {
  readonly command: Command
  readonly room: Room
  /** Where the words go that an image begins its commands with: before this word of argv. Nowhere unless said, or without an image. */
  readonly entrypointAt?: number | undefined
  /** What holds, after a worker's own limits were laid over the command's. */
  readonly limits: Limits
  readonly hooks: RunHooks
  /** It runs at a terminal of this size, which takes the place of all three standard streams; undefined for none. */
  readonly terminal?: TerminalSize | undefined
  /**
   * It is started ahead of time, and waits for something of its own accord; when this resolves it begins, and only then its
   * time is counted, `started` is said, and what it uses is looked after. Only rooms with namespaces can be asked for this.
   */
  readonly held?: Promise<Release> | undefined
}

/** What is known only when a command that was held begins. */
export interface Release {
  readonly wallMs: number | undefined
}

/** All optional: whoever only wants the end needs none. */
export interface RunHooks {
  readonly started?: () => void
  /** As it comes, up to the limit, and the tail of what is more; the bytes are valid during the call only. */
  readonly stdout?: (bytes: Uint8Array) => void
  readonly stderr?: (bytes: Uint8Array) => void
  /** What the command reads, for as long as it comes; nothing when left out. */
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Hears, once, what can be done to the command while it runs. */
  readonly reins?: (reins: ProcessControl) => void
}

/** What can be done to a command that runs. What comes before its program is there waits for it; after its end nothing happens. */
export interface ProcessControl {
  /** To its first process; at a terminal to all that are in its foreground, as keys would. */
  signal(name: InputSignal): void
  /** Nothing, where there is no terminal. */
  resize(size: TerminalSize): void
}

/**
 * Why it ended. `ok` is exit code 0 and `exit` any other; `signal` is a signal that we did not send; `pid-limit` is
 * an exit other than 0 after a process was refused; `not-started` says that the program is not there or is none.
 */
export type RunCause =
  | 'ok'
  | 'exit'
  | 'signal'
  | 'timeout'
  | 'cpu-time'
  | 'out-of-memory'
  | 'pid-limit'
  | 'file-size'
  | 'disk-limit'
  | 'output-limit'
  | 'cancelled'
  | 'not-started'

export interface RunEnd {
  readonly cause: RunCause
  /** As a shell would tell it: 128 and the number of a signal, 127 and 126 for what could not be started. */
  readonly exitCode: number
  readonly signal: string | undefined
  /** In words, whenever the cause is neither `ok` nor `exit`, or a limit had a part in it. */
  readonly reason: string | undefined
  readonly usage: Usage
  readonly stdout: Output
  readonly stderr: Output
}

/** What was kept of a stream. Where it was more than the limit, bytes are missing from the middle: the tail is kept. */
export interface Output {
  readonly bytes: Uint8Array
  readonly droppedBytes: number
  /** How many of the bytes come before those that were dropped. */
  readonly droppedAt: number
}

export interface Usage {
  readonly wallMs: number
  /** Of all processes together, those that were killed included; undefined where nobody counted. */
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  /** Counted by the kernel it includes the page cache of files that were read and written. */
  readonly peakMemoryBytes: number | undefined
  /**
   * `counted` by the kernel for the whole tree of processes (the start of the first, about a millisecond, included), or
   * `sampled` now and then: too little by what happened after the last look.
   */
  readonly how: 'counted' | 'sampled'
}
