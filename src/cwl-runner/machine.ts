import type { Clock } from '../base/clock.ts'
import type { Runtime } from '../runtimes/run/runtime.ts'
import type { WaitingLine } from '../services/workflows/driver/waiting-line.ts'
import type { Rooms } from '../worker/rooms/rooms.ts'
import type { Expressions } from '../workflow/expressions/expressions.ts'
import type { Containers } from './container/containers.ts'
import type { LocalFiles } from './files/local-files.ts'

/** The parts that run commands. */
export interface Machine {
  /** Runs a command directly on this machine. */
  readonly runtime: Runtime
  readonly files: LocalFiles
  readonly expressions: Expressions
  readonly clock: Clock
  /** The size limit of `cwl.output.json`. */
  readonly outputJsonBytes: number
  /** The rooms of this run, which are kept until its end, and their folder by its real path. */
  readonly rooms: Rooms
  readonly folder: string
  /** One place for each processor that the run may use. */
  readonly processors: WaitingLine
  /** Undefined when nothing may run in a container. */
  readonly containers: Containers | undefined
  readonly watch: RunWatch
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
}

/** Receives the progress of a run's commands; `path` is empty for a process that is a single tool. */
export interface RunWatch {
  queued(path: string): void
  started(path: string): void
  /** `isCached`: the result was cached and nothing was run. */
  ended(path: string, isDone: boolean, isCached?: boolean): void
  /** Output of a command that is not redirected to a file. */
  printed(path: string, bytes: Uint8Array): void
  /** A warning for the user. */
  noted(path: string, what: string): void
}
