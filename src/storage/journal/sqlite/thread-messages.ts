import type { Fault } from '../../../base/fault.ts'
import type { HistoryPage, HistoryQuery, TaskRecord } from '../journal.ts'
import type { OpenPage } from './recovery.ts'

/** What a journal's thread is started with. */
export interface ThreadSettings {
  readonly folder: string
  /** The name of the server that writes. */
  readonly owner: string
}

/** To the thread that writes. Calls are numbered from 1 in the order in which they were made. */
export type ToWriter =
  | Packed
  | { readonly kind: 'recover' }
  | { readonly kind: 'forget'; readonly id: number; readonly before: number }
  | { readonly kind: 'close' }

export interface Packed {
  readonly kind: 'facts'
  /** The number of the first call in it. */
  readonly first: number
  readonly memory: ArrayBuffer
  readonly size: number
  /** Somebody waits for the disk. */
  readonly power: boolean
}

export type FromWriter =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** All calls up to this number are committed but for those that failed. */
  | {
      readonly kind: 'committed'
      readonly upTo: number
      readonly late: readonly { readonly call: number; readonly tasks: readonly string[] }[]
      readonly failed: readonly { readonly call: number; readonly fault: Fault }[]
    }
  /** All calls up to this number that are committed are on the disk, or, with a fault, may not be. */
  | { readonly kind: 'synced'; readonly upTo: number; readonly fault: Fault | undefined }
  | { readonly kind: 'open'; readonly page: OpenPage }
  | { readonly kind: 'recovered'; readonly epoch: number; readonly namesOffered: readonly string[] }
  | { readonly kind: 'unrecovered'; readonly fault: Fault }
  | { readonly kind: 'forgotten'; readonly id: number; readonly tasks: number; readonly fault: Fault | undefined }
  | { readonly kind: 'closed'; readonly fault: Fault | undefined }

/** To the thread that reads. */
export type ToReader =
  | { readonly kind: 'find'; readonly id: number; readonly operation: string }
  | { readonly kind: 'list'; readonly id: number; readonly query: HistoryQuery; readonly cursor: string | undefined }

export type FromReader =
  | { readonly kind: 'found'; readonly id: number; readonly task: TaskRecord | undefined }
  | { readonly kind: 'listed'; readonly id: number; readonly page: HistoryPage }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: Fault }

/** From the thread that keeps the log short: how many frames it has, and how many of them are in the database now. */
export interface Checkpointed {
  readonly frames: number
  readonly done: number
}
