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
  /** What everything it names is named by, and its outputs too. */
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
  /** Parts of the room that its container shows in other places, too; only where there is an image. */
  readonly places?: readonly RoomPlace[]
  /** The least that its room must keep it from everything else. */
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

/** Whose tasks are of this kind, in the doors' words; `command` is for those who have no better one. */
export const COMMAND_ORIGINS = ['command', 'snippet', 'step'] as const
export type CommandOrigin = (typeof COMMAND_ORIGINS)[number]

export const isCommandOrigin = (origin: string): origin is CommandOrigin =>
  COMMAND_ORIGINS.some((one) => one === origin)

export interface CommandStage {
  /** Such as `compile` or `run`: lower-case letters, digits, dashes and underscores. */
  readonly name: string
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  /** What it reads; undefined for nothing. */
  readonly stdin: StageInput | undefined
  readonly limits: Limits
  readonly network: boolean
  /** The words that the image begins its commands with go before the word of argv with this number; unless said they are left out. */
  readonly entrypointAt?: number | undefined
  /** What it makes may be taken from an earlier run of the same. The first stage only, and only one that ends well. */
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
  /** What somebody types while it runs, at a terminal or not. At most one stage of a task, for there is one who types. */
  | { readonly kind: 'live'; readonly terminal: TerminalSize | undefined }

/** Laid out together; a path that comes twice is a mistake. Paths go from the root of the inputs, with slashes. */
export interface CommandTaskInputs {
  /** Of a Directory message, all of whose descendants are blobs too; undefined for no tree. */
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

/** A file or directory of the room under a name of its own: what a command does at one of the two it does at both. */
export interface RoomPlace {
  /** From the root of the inputs, with slashes. */
  readonly path: string
  /** An absolute path without detours, as the command sees it. */
  readonly at: string
  readonly writable: boolean
}

/** Offered by workers whose containers can show a room in other places, and asked for by tasks that want it. */
export const PLACES_PROPERTY = 'container-places'

/** These are the worker's own in every room, and everything below them is. */
const TAKEN_PLACES = ['/room', '/tmp', '/proc', '/sys', '/dev']

/** Whether a room can be shown there. */
export const isFreePlace = (at: string): boolean =>
  /^(\/[^/\0]+)+$/.test(at) &&
  at.split('/').every((name) => name !== '.' && name !== '..') &&
  TAKEN_PLACES.every((taken) => at !== taken && !at.startsWith(`${taken}/`))

/** What to carry out of the room, by paths from the working directory. What is not there is left out. */
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
 * What becomes of a symlink among the outputs. `keep`: it stays one, if it leads to a place among the outputs'
 * neighbours; `follow`: what it leads to stands in its place, if that is in the room; `refuse`: there may be none.
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
  /** Those that were run, in order: all but the last ended well. */
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
  /** As a shell would tell it. */
  readonly exitCode: number
  readonly signal: string | undefined
  /** In words, for a cause that needs some. */
  readonly reason: string | undefined
  readonly stdout: StageStream
  readonly stderr: StageStream
  readonly usage: StageUsage
  /** It was not run: an earlier run of the same was found. */
  readonly cached?: boolean
}

/** What was kept of a stream: inline when it is short, else as a blob. Bytes that are too many are gone from its middle. */
export interface StageStream {
  readonly inline: Uint8Array | undefined
  readonly digest: Digest | undefined
  /** 0 when all of it is there. */
  readonly droppedBytes: number
  /** How many of the bytes come before those that are gone. */
  readonly droppedAt: number
}

/** What nobody counted is undefined. */
export interface StageUsage {
  readonly wallMs: number
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
  readonly how: 'counted' | 'sampled'
}

/** All of them as one directory, and one by one; paths go from the working directory. */
export interface CommandOutputs {
  /** Of a Directory message; undefined when there is nothing. Empty directories are in it only. */
  readonly root: Digest | undefined
  readonly files: readonly CommandOutputFile[]
  readonly symlinks: readonly { readonly path: string; readonly target: string }[]
  /** In words, why they could not be carried out; there are none then. */
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

/** A whole task from what a door has to say about it. Nothing is granted, or cached, that is not said. */
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

/** Whether somebody types to it. */
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
