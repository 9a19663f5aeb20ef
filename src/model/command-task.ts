import type { Digest, DigestFunction } from '../base/digest.ts'
import type { ActionResult, ExecutedActionMetadata } from './action-result.ts'
import type { DirectoryFormat, EnvVariable, InlineFile, Limits, OutputProperty, PlatformProperty } from './command.ts'
import type { IsolationLevel } from './isolation.ts'
import type { TerminalSize } from './live-input.ts'

/**
 * The work of one task, whichever door accepted it: an action, a snippet or a step of a workflow. One or more commands
 * run one after the other in the same room. The first stage that does not exit with 0 is the last one.
 */
export interface CommandTask {
  /** The digest function of all digests in the task and in its outputs. */
  readonly fn: DigestFunction
  /** At least one; no two of the same name. */
  readonly stages: readonly CommandStage[]
  readonly inputs: CommandTaskInputs
  /** From the root of the inputs, with slashes; empty for the root itself. Made when it is not there. */
  readonly workingDirectory: string
  readonly outputs: CommandTaskOutputs
  readonly platform: readonly PlatformProperty[]
  /** The container image, where the runtime takes one. */
  readonly image: string | undefined
  /** Paths of the room that its container mounts at other places, too; only with an image. */
  readonly places?: readonly RoomPlace[]
  /** The weakest isolation that is acceptable. */
  readonly isolation: IsolationLevel
  readonly cacheable: boolean
  /** Set for an action of the Remote Execution API. */
  readonly action?: TaskAction | undefined
}

/**
 * The parts of an action that only the Remote Execution API has. Such a task has one stage. Its working directory is not
 * created, its outputs have the forms that the protocol defines, and only the worker limits their number and size.
 */
export interface TaskAction {
  /** As the client sent it: the key for caching and merging, and `action_digest` for workers of the seeds' protocols. */
  readonly digest: Digest
  readonly commandDigest: Digest
  /** The client's own Action and Command messages. They are the encoded task: nothing is encoded again. */
  readonly messages: { readonly action: Uint8Array; readonly command: Uint8Array }
  /** Outputs that must be files, or directories: `output_files` and `output_directories` of clients before REAPI 2.1. */
  readonly outputFiles: readonly string[]
  readonly outputDirectories: readonly string[]
  readonly directoryFormat: DirectoryFormat
  readonly properties: readonly OutputProperty[]
}

/** The kind of task, in the words of the door that created it; `command` when there is no better word. */
export const COMMAND_ORIGINS = ['command', 'snippet', 'step'] as const
export type CommandOrigin = (typeof COMMAND_ORIGINS)[number]

export const isCommandOrigin = (origin: string): origin is CommandOrigin =>
  COMMAND_ORIGINS.some((one) => one === origin)

export interface CommandStage {
  /** For example `compile` or `run`: lower-case letters, digits, dashes and underscores. */
  readonly name: string
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  /** Standard input; undefined for none. */
  readonly stdin: StageInput | undefined
  readonly limits: Limits
  readonly network: boolean
  /** Insert the image's entrypoint before this word of argv; undefined leaves the entrypoint out. */
  readonly entrypointAt?: number | undefined
  /** The result may come from an earlier run of the same stage. Only for the first stage, and only if it succeeded. */
  readonly cache?: StageCaching | undefined
}

export interface StageCaching {
  /** Workers of earlier versions keep results under names made with it; only servers and workers know it. */
  readonly salt: string
  /** All that later stages need of what it makes: paths and patterns from the working directory. */
  readonly outputs: readonly string[]
}

export type StageInput =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'blob'; readonly digest: Digest }
  /** Interactive input while the stage runs, with or without a terminal. At most one stage of a task has it. */
  | { readonly kind: 'live'; readonly terminal: TerminalSize | undefined }

/**
 * All inputs are laid out together; the same path twice is an error. Paths are relative to the input root, with
 * slashes.
 */
export interface CommandTaskInputs {
  /** The digest of a Directory message; all of its descendants are blobs too. Undefined for no tree. */
  readonly root: Digest | undefined
  readonly files: readonly InlineFile[]
  readonly placed: readonly PlacedFile[]
}

/** A blob that is to lie at a path. */
export interface PlacedFile {
  readonly path: string
  readonly digest: Digest
  readonly executable: boolean
  /** Without this the command finds it closed to writing. */
  readonly writable: boolean
}

/** A second mount of a file or directory of the room: changes at one path are visible at both. */
export interface RoomPlace {
  /** From the root of the inputs, with slashes. */
  readonly path: string
  /** An absolute path without detours, as the command sees it. */
  readonly at: string
  readonly writable: boolean
}

/** Property of workers whose containers can mount a room at other places; tasks that need this require it. */
export const PLACES_PROPERTY = 'container-places'

/** Directories that belong to the worker in every room, with everything below them. */
const TAKEN_PLACES = ['/room', '/tmp', '/proc', '/sys', '/dev']

/** Whether a room can be mounted at this path. */
export const isFreePlace = (at: string): boolean =>
  /^(\/[^/\0]+)+$/.test(at) &&
  at.split('/').every((name) => name !== '.' && name !== '..') &&
  TAKEN_PLACES.every((taken) => at !== taken && !at.startsWith(`${taken}/`))

/** The outputs to collect, by paths relative to the working directory. Missing files are left out. */
export interface CommandTaskOutputs {
  /** Files, and directories with all that is in them. */
  readonly paths: readonly string[]
  /** `*`, `?`, `[…]` within a name, `**` for any number of names. A directory that fits is taken whole, unless by `**`. */
  readonly globs: readonly string[]
  readonly mostFiles: number
  readonly mostBytes: number
  readonly symlinks: SymlinkRule
}

/**
 * Handling of a symlink among the outputs. `keep`: it stays a symlink if its target is among the outputs; `follow`: its
 * target replaces it if the target is in the room; `refuse`: a symlink is an error.
 */
export const SYMLINK_RULES = ['refuse', 'keep', 'follow'] as const
export type SymlinkRule = (typeof SYMLINK_RULES)[number]

/**
 * The result of an attempt: every field of an ActionResult, and how each stage ended. Snippets and workflow steps read
 * a projection of it (`CommandResult`).
 */
export interface TaskResult extends ActionResult {
  /** The stages that ran, in order; all but the last exited with 0. */
  readonly stages: readonly StageResult[]
  /** The Directory that holds all outputs; undefined for an action, and when there are none. */
  readonly outputsRoot: Digest | undefined
  /** The reason why the outputs of a task that is no action could not be collected; there are none then. */
  readonly problem: string | undefined
}

/** What came of a command task that ran, however it ended. */
export interface CommandResult {
  /** The stages that ran, in order: all but the last succeeded. */
  readonly stages: readonly StageResult[]
  readonly outputs: CommandOutputs
  readonly metadata: ExecutedActionMetadata | undefined
}

/** A stage that was cancelled has no result, so that is no cause here. */
export const STAGE_CAUSES = [
  'ok',
  'exit',
  'signal',
  'timeout',
  'cpu-time',
  'out-of-memory',
  'pid-limit',
  'file-size',
  'disk-limit',
  'output-limit',
  'not-started',
] as const
export type StageCause = (typeof STAGE_CAUSES)[number]

export interface StageResult {
  readonly name: string
  readonly cause: StageCause
  /** The exit code as a shell reports it. */
  readonly exitCode: number
  readonly signal: string | undefined
  /** In words, for a cause that needs some. */
  readonly reason: string | undefined
  readonly stdout: StageStream
  readonly stderr: StageStream
  readonly usage: StageUsage
  /** The stage did not run: the result of an earlier run was used. */
  readonly cached?: boolean
}

/** The captured part of a stream: inline when short, else a blob. Output above the limit is cut from the middle. */
export interface StageStream {
  readonly inline: Uint8Array | undefined
  readonly digest: Digest | undefined
  /** 0 when all of it is there. */
  readonly droppedBytes: number
  /** How many of the bytes come before the cut. */
  readonly droppedAt: number
}

/** Fields that were not measured are undefined. */
export interface StageUsage {
  readonly wallMs: number
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
  readonly how: 'counted' | 'sampled'
}

/** All of them as one directory, and one by one; paths go from the working directory. */
export interface CommandOutputs {
  /** The digest of a Directory message; undefined when there are no outputs. Only this lists empty directories. */
  readonly root: Digest | undefined
  readonly files: readonly CommandOutputFile[]
  readonly symlinks: readonly { readonly path: string; readonly target: string }[]
  /** The reason why outputs could not be collected; then there are none. */
  readonly problem: string | undefined
}

export interface CommandOutputFile {
  readonly path: string
  readonly digest: Digest
  readonly executable: boolean
}

/** Whether everything went well: the last stage, and the carrying out. */
export const hasSucceeded = ({ stages, outputs }: CommandResult): boolean =>
  stages.at(-1)?.cause === 'ok' && outputs.problem === undefined

/** The projection of a result that snippets and workflow steps read. */
export const toCommandResult = ({ stages, outputsRoot, problem, metadata, ...result }: TaskResult): CommandResult => ({
  stages,
  outputs: {
    root: outputsRoot,
    files: result.outputFiles.map(({ path, digest, executable }) => ({ path, digest, executable })),
    symlinks: result.outputSymlinks.map(({ path, target }) => ({ path, target })),
    problem,
  },
  metadata,
})

/** What must be said of a stage, and of a task; the rest has defaults. */
export type StageSpec = Pick<CommandStage, 'name' | 'argv'> & Partial<CommandStage>
export interface CommandTaskSpec extends Partial<Omit<CommandTask, 'stages' | 'inputs' | 'outputs'>> {
  readonly stages: readonly StageSpec[]
  readonly inputs?: Partial<CommandTaskInputs>
  readonly outputs?: Partial<CommandTaskOutputs>
}

const MOST_OUTPUT_FILES = 1000
const MOST_OUTPUT_BYTES = 1024 ** 3

/** Completes a task with defaults. By default nothing is granted and nothing is cached. */
export const commandTaskOf = ({ stages, inputs, outputs, ...task }: CommandTaskSpec): CommandTask => ({
  fn: 'sha256',
  workingDirectory: '',
  platform: [],
  image: undefined,
  isolation: 'none',
  cacheable: false,
  ...task,
  stages: stages.map((stage) => ({ env: [], stdin: undefined, limits: {}, network: false, ...stage })),
  inputs: { root: undefined, files: [], placed: [], ...inputs },
  outputs: {
    paths: [],
    globs: [],
    mostFiles: MOST_OUTPUT_FILES,
    mostBytes: MOST_OUTPUT_BYTES,
    symlinks: 'refuse',
    ...outputs,
  },
})

/** Whether one of its stages is interactive. */
export const isInteractive = ({ stages }: Pick<CommandTask, 'stages'>): boolean =>
  stages.some(({ stdin }) => stdin?.kind === 'live')

/** The blobs that a task reads, to be kept while it is open. What is in the tree is named by its root. */
export function blobsReadBy({ inputs, stages, action }: CommandTask): Digest[] {
  const fed = stages.flatMap(({ stdin }) => (stdin?.kind === 'blob' ? [stdin.digest] : []))
  return [
    ...(action === undefined ? [] : [action.digest, action.commandDigest]),
    ...(inputs.root === undefined ? [] : [inputs.root]),
    ...inputs.placed.map(({ digest }) => digest),
    ...fed,
  ]
}
