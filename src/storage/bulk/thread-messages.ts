import type { DigestFunction } from '../../base/digest.ts'
import type { StoredForm } from '../blob-store.ts'

/**
 * Messages from the main thread to a bulk thread. Bytes are in slabs of shared memory that are announced once. Both
 * sides send lists, one per turn, because waking a thread costs more than the messages.
 */
export type ToBulkThread =
  | { readonly kind: 'slab'; readonly slab: number; readonly memory: SharedArrayBuffer }
  | {
      readonly kind: 'begin'
      readonly id: number
      readonly fn: DigestFunction
      readonly form: StoredForm
      readonly maxSize: number
    }
  | { readonly kind: 'bytes'; readonly id: number; readonly slab: number; readonly bytes: number }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'cancel'; readonly id: number }

export type FromBulkThread =
  /** The bytes were used, and the slab is free again. */
  | { readonly kind: 'used'; readonly id: number; readonly slab: number }
  | { readonly kind: 'found'; readonly id: number; readonly hash: Uint8Array; readonly size: number }
  | { readonly kind: 'refused'; readonly id: number }
