import type { Fault } from '../../../base/fault.ts'
import type { HistoryPage, HistoryQuery, TaskRecord } from '../journal.ts'
import type { OpenPage } from './recovery.ts'

/** The settings of the journal's threads. */
export interface ThreadSettings {
  readonly folder: string
  /** The name of the server that writes. */
  readonly owner: string
}

/** Messages to the writer thread. Calls are numbered from 1 in the order in which they were made. */
export type ToWriter =
  | Packed
  | { readonly kind: 'recover' }
  /** Requests the next page of open tasks, after `recover`. */
  | { readonly kind: 'more' }
  | { readonly kind: 'forget'; readonly id: number; readonly before: number }
  | { readonly kind: 'close' }

export interface Packed {
  readonly kind: 'facts'
  /** The number of the first call in the pack. */
  readonly first: number
  readonly memory: ArrayBuffer
  readonly size: number
  /** A caller waits for the fsync. */
  readonly power: boolean
}

export type FromWriter =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** All calls up to this number are committed, except those that failed. */
  | {
      readonly kind: 'committed'
      readonly upTo: number
      readonly late: readonly { readonly call: number; readonly tasks: readonly string[] }[]
      readonly failed: readonly { readonly call: number; readonly fault: Fault }[]
    }
  /** All committed calls up to this number are on disk. With a fault, they may not be. */
  | { readonly kind: 'synced'; readonly upTo: number; readonly fault: Fault | undefined }
  | { readonly kind: 'open'; readonly page: OpenPage; readonly epoch: number; readonly namesOffered: readonly string[] }
  | { readonly kind: 'recovered'; readonly epoch: number; readonly namesOffered: readonly string[] }
  | { readonly kind: 'unrecovered'; readonly fault: Fault }
  | { readonly kind: 'forgotten'; readonly id: number; readonly tasks: number; readonly fault: Fault | undefined }
  | { readonly kind: 'closed'; readonly fault: Fault | undefined }

/** Messages to the reader thread. */
export type ToReader =
  | { readonly kind: 'find'; readonly id: number; readonly operation: string }
  | { readonly kind: 'list'; readonly id: number; readonly query: HistoryQuery; readonly cursor: string | undefined }

export type FromReader =
  | { readonly kind: 'found'; readonly id: number; readonly task: TaskRecord | undefined }
  | { readonly kind: 'listed'; readonly id: number; readonly page: HistoryPage }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: Fault }

/** The answer of the keeper thread: the frames in the log, and how many of them are in the database now. */
export interface Checkpointed {
  readonly frames: number
  readonly done: number
}
