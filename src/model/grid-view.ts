import type { InstanceName } from './instance-name.ts'
import type { TaskState } from './task-state.ts'
import type { WorkerState } from './worker-state.ts'

/** A task as operators see it. Times are milliseconds since 1970. */
export interface TaskView {
  /** The short name. */
  readonly task: string
  readonly operation: string
  readonly instance: InstanceName
  readonly origin: string
  readonly state: TaskState
  /** Attempts that were begun. */
  readonly attempt: number
  /** The worker that runs it, or that ran it last. */
  readonly worker: string | undefined
  readonly acceptedAt: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** For a finished task, its result as text. */
  readonly reason: string
  /** The cache had its result, and nothing was run. */
  readonly cached: boolean
  /** The exit code, if the command ended. */
  readonly exitCode: number | undefined
  /** The program and its first arguments; empty where they are not known. */
  readonly command: readonly string[]
  /** For an action, its digest: hash/size. */
  readonly actionDigest: string | undefined
}

export interface TaskQuery {
  /** Undefined for tasks of all instances. */
  readonly instance: InstanceName | undefined
  /** Undefined for all. */
  readonly states: readonly TaskState[]
  readonly limit: number
  /** Where the last page ended; undefined for the first. */
  readonly cursor: string | undefined
}

export interface TaskPage {
  readonly tasks: readonly TaskView[]
  /** Undefined on the last page. A short or empty page can also have a token for the next page. */
  readonly next: string | undefined
}

/** Some of what a task printed while it runs. */
export interface PrintedPiece {
  readonly stream: 'stdout' | 'stderr'
  /** Which attempt printed it, from 1. */
  readonly attempt: number
  readonly bytes: Uint8Array
  /** Bytes of both streams that were dropped between the piece before and this one. */
  readonly missed: number
}

export interface WorkerInView {
  readonly worker: string
  readonly state: WorkerState
  /** Why it is in that state. */
  readonly reason: string
  readonly slots: number
  /** Tasks that it has now. */
  readonly tasks: number
  /** Properties that it offers to tasks. */
  readonly properties: readonly { readonly name: string; readonly value: string }[]
  /** Its resources; undefined for those it does not report. */
  readonly cpu: number | undefined
  readonly memoryBytes: number | undefined
  readonly diskBytes: number | undefined
  readonly registeredAt: number
  readonly heardAt: number
  /** For people: host, version, isolation. */
  readonly about: Readonly<Record<string, string>>
}

export interface GridFigures {
  readonly now: number
  /** Waiting for a slot. */
  readonly queued: number
  /** Assigned, running or stopping. */
  readonly active: number
  /** Unfinished tasks. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>
  readonly workers: Readonly<Partial<Record<WorkerState, number>>>
  readonly slots: number
  readonly usedSlots: number
  /** Since the server started. */
  readonly accepted: number
  readonly ended: number
  /** The longest first. */
  readonly queues: readonly QueueFigures[]
  /** Why the journal takes nothing at present; empty when it does. */
  readonly journalTrouble: string
}

export interface QueueFigures {
  /** In words. */
  readonly asksFor: string
  readonly queued: number
  readonly active: number
}
