import type { Command, Limits } from '../../model/command.ts'
import type { RoomPlace } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { InputSignal, TerminalSize } from '../../model/live-input.ts'

/**
 * Runs one command in a room, within limits. A command that exits with 1, is killed, exceeds its time or cannot be
 * started is a result. Only failures of the grid or of the request throw: `invalid` when no worker could run it (no
 * argv, a missing working directory), `unavailable` when this worker cannot.
 */
export interface Runtime {
  readonly name: RuntimeName
  /** Whether it works on this machine. Called once, when a worker starts. */
  probe(): Promise<RuntimeProbe>
  /** Announces a run, so that slow preparations run now. The call is cheap when no run follows. */
  expect(): void
  /**
   * Resolves when every process of the command is dead and all output has been forwarded. Aborting the signal ends the
   * run with the cause `cancelled`.
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
      /** Returns why a command cannot have a network here; undefined when it can. Makes a network to test it. */
      readonly networkProblem: () => Promise<string | undefined>
    }
  | { readonly works: false; readonly reason: string }

/**
 * How each limit is enforced: by the kernel for `all` processes of the command together, by the kernel for `each`
 * process, by sampling and killing (`watched`), or `not` at all.
 */
export type KeptLimits = Readonly<Record<keyof Limits, 'all' | 'each' | 'watched' | 'not'>>

/** Further features. A request for a missing one is ignored, except for a rootfs, which is refused. */
export interface Kept {
  /** A command without `network` has no network. */
  readonly network: boolean
  /** Parts of the room can be read-only. */
  readonly readOnly: boolean
  /** The command can run with another root file system. */
  readonly rootfs: boolean
  /**
   * The caller can control the command while it runs, and the command may have a terminal. Otherwise a terminal is
   * refused.
   */
  readonly control: boolean
  readonly terminal: boolean
}

/** The directory of one attempt, and its settings. */
export interface Room {
  /** Unique on this machine; letters, digits, dots, dashes and underscores. */
  readonly name: string
  /** The root of the inputs: an absolute path without symlinks. */
  readonly path: string
  /** The folder for temporary files; removed with the room. */
  readonly tmp: string | undefined
  /** The user that owns it and runs its command; default the runtime's user. Only root can choose one. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Files and directories, relative to the root, that the command may read but not change; '' for all of it. */
  readonly readOnly?: readonly string[]
  /** The root file system that the command sees instead of this machine's: an absolute path without symlinks. */
  readonly rootfs?: string
  /** Parts of the room that a Docker container also mounts at other paths; other runtimes ignore it. */
  readonly places?: readonly RoomPlace[]
  /** Files and directories outside the room that a Docker container mounts; other runtimes ignore it. */
  readonly mounts?: readonly RoomMount[]
}

/** The caller must trust the source: a command must not choose it. */
export interface RoomMount {
  /** A path of this machine. */
  readonly source: string
  /** The path that the command sees. If it is in the room, a file or directory must exist there as a mount point. */
  readonly at: string
  readonly writable: boolean
}

/** The parts of a command that a runtime needs: inputs are in the room already. */
export type RunCommand = Pick<Command, 'argv' | 'env' | 'workingDirectory' | 'platform' | 'image' | 'network'>

/** A command at the root of its room, without further requests. */
export const PLAIN_COMMAND = {
  env: [],
  workingDirectory: '',
  platform: [],
  image: undefined,
  network: false,
} as const satisfies Omit<RunCommand, 'argv'>

export interface Run {
  readonly command: RunCommand
  readonly room: Room
  /**
   * The index in argv before which the image's entrypoint is inserted. Not inserted by default, or without an image.
   */
  readonly entrypointAt?: number | undefined
  /** The effective limits: the command's, within the worker's own. */
  readonly limits: Limits
  readonly hooks: RunHooks
  /** The size of the terminal that replaces all three standard streams; undefined for none. */
  readonly terminal?: TerminalSize | undefined
  /**
   * The command is started ahead of time and waits until this resolves. Only then its time is counted, `started` is
   * called, and limits are watched. Only rooms with namespaces support this.
   */
  readonly held?: Promise<Release> | undefined
}

/** Values that are known only when a held command begins. */
export interface Release {
  readonly wallMs: number | undefined
}

/** Callbacks and input of a run. */
export interface RunHooks {
  readonly started?: () => void
  /** Output as it arrives, up to the limit, and then a tail; the bytes are valid during the call only. */
  readonly stdout?: (bytes: Uint8Array) => void
  readonly stderr?: (bytes: Uint8Array) => void
  /** The command's standard input; empty when left out. */
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Called once, with the control of the running command. */
  readonly control?: (control: ProcessControl) => void
}

/** Controls a running command. Calls before its program has started wait for it; calls after its end do nothing. */
export interface ProcessControl {
  /** Sent to its first process; at a terminal, to the foreground process group. */
  signal(name: InputSignal): void
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): void
}

/**
 * Why it ended. `ok` is exit code 0 and `exit` any other; `signal` is a signal that we did not send; `pid-limit` is an
 * exit code other than 0 after a refused fork; `not-started` means that the program is missing or not executable.
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
  /**
   * The exit code that a shell would report: 128 plus the signal number, or 127 or 126 for a program that could not be
   * started.
   */
  readonly exitCode: number
  readonly signal: string | undefined
  /** An explanation, when the cause is neither `ok` nor `exit`, or when a limit contributed. */
  readonly reason: string | undefined
  readonly usage: Usage
  readonly stdout: Output
  readonly stderr: Output
}

/** The kept part of a stream. Beyond the limit, bytes are missing from the middle: the tail is kept. */
export interface Output {
  readonly bytes: Uint8Array
  readonly droppedBytes: number
  /** How many of the bytes precede the dropped ones. */
  readonly droppedAt: number
}

export interface Usage {
  readonly wallMs: number
  /** All processes together, including killed ones; undefined where not measured. */
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  /** If the kernel counts it, the value includes the page cache of files that were read and written. */
  readonly peakMemoryBytes: number | undefined
  /**
   * `counted` by the kernel for all processes (including about 1 ms for the start of the first), or `sampled`: usage
   * after the last sample is missing.
   */
  readonly how: 'counted' | 'sampled'
}
