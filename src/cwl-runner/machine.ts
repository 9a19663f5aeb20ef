import type { Runtime } from '../runtimes/run/runtime.ts'
import type { Expressions } from '../workflow/expressions/expressions.ts'
import type { Containers } from './container/containers.ts'
import type { LocalFiles } from './files/local-files.ts'
import type { MachineSlots } from './slots.ts'

/** What commands are run with. */
export interface Machine {
  /** Runs a command on this machine as it is. */
  readonly runtime: Runtime
  readonly files: LocalFiles
  readonly expressions: Expressions
  /** The largest `cwl.output.json` that is read. */
  readonly outputJsonBytes: number
  /** A folder of this run alone, by its real path. */
  readonly rooms: string
  readonly slots: MachineSlots
  /** Undefined when nothing is to run in a container. */
  readonly containers: Containers | undefined
  readonly watch: RunWatch
  /** Aborted when the one who runs the workflow has had enough. */
  readonly signal: AbortSignal
}

/** Hears how the commands of a run are getting on; `path` is empty for a process that is a single tool. */
export interface RunWatch {
  queued(path: string): void
  started(path: string): void
  /** `isCached`: nothing was run, for the result was known. */
  ended(path: string, isDone: boolean, isCached?: boolean): void
  /** What a command prints that goes into no file. */
  printed(path: string, bytes: Uint8Array): void
  /** Something that the user should know and that is no failure. */
  noted(path: string, what: string): void
}
