import type { Digest } from '../base/digest.ts'
import type { NodeProperties } from './node-properties.ts'
import type { Timestamp } from './timestamp.ts'

/** The result of an action that ran, whatever its exit code. */
export interface ActionResult {
  readonly exitCode: number
  readonly outputFiles: readonly OutputFile[]
  readonly outputDirectories: readonly OutputDirectory[]
  readonly outputSymlinks: readonly OutputSymlink[]
  /** Symlinks in the fields that clients before API 2.1 read: links to files and links to directories. */
  readonly legacyFileSymlinks: readonly OutputSymlink[]
  readonly legacyDirectorySymlinks: readonly OutputSymlink[]
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly metadata: ExecutedActionMetadata | undefined
}

export interface OutputFile {
  /** From the working directory, with slashes. */
  readonly path: string
  readonly digest: Digest
  readonly executable: boolean
  /** The content itself, when it was asked for. */
  readonly contents: Uint8Array | undefined
  readonly properties: NodeProperties | undefined
}

export interface OutputDirectory {
  /** Empty for the working directory as a whole. */
  readonly path: string
  readonly treeDigest: Digest | undefined
  /** In the tree, parents come before their children. */
  readonly topologicallySorted: boolean
  /** The digest of a Directory message; all of its descendants are blobs too. */
  readonly rootDigest: Digest | undefined
}

export interface OutputSymlink {
  readonly path: string
  readonly target: string
  readonly properties: NodeProperties | undefined
}

/** Standard output or error: as a blob, inline, both, or neither when nothing was written. */
export interface OutputStream {
  readonly digest: Digest | undefined
  readonly raw: Uint8Array | undefined
}

/** The worker, and the start and end of each phase. */
export interface ExecutedActionMetadata {
  readonly worker: string
  readonly times: Readonly<Partial<Record<ExecutionTime, Timestamp>>>
  /** How long the command ran, by the clock that its time-out is held against. */
  readonly virtualDurationMs: number | undefined
  /** Messages of the worker's own, passed on as they came. */
  readonly auxiliary: readonly { readonly typeUrl: string; readonly value: Uint8Array }[]
}

/** In the order in which they happen. */
export type ExecutionTime =
  | 'queued'
  | 'workerStart'
  | 'inputFetchStart'
  | 'inputFetchCompleted'
  | 'executionStart'
  | 'executionCompleted'
  | 'outputUploadStart'
  | 'outputUploadCompleted'
  | 'workerCompleted'
