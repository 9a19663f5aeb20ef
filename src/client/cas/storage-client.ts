import type { ReclaimProgress, ReclaimRequest, StorageFigures } from '../../model/storage-figures.ts'
import {
  figuresFromProto,
  figuresRequestToProto,
  reclaimProgressFromProto,
  reclaimRequestToProto,
} from '../../wire/admin/storage.ts'
import type { Rpc, RpcClient } from '../connection/rpc.ts'
import { fromServer } from '../connection/server-fault.ts'

const FIGURES: Rpc<undefined, StorageFigures> = {
  path: '/windlass.storage.v1.Storage/Figures',
  encode: figuresRequestToProto,
  decode: fromServer(figuresFromProto),
}

const RECLAIM: Rpc<ReclaimRequest, ReclaimProgress> = {
  path: '/windlass.storage.v1.Storage/Reclaim',
  encode: reclaimRequestToProto,
  decode: fromServer(reclaimProgressFromProto),
}

const FIGURES_MS = 60_000

/** A Windlass server's storage, for whoever looks after it. */
export interface StorageClient {
  figures(): Promise<StorageFigures>
  /** Tells how far it is; the last is done. Leaving the iteration stops the reclaim. */
  reclaim(wish: ReclaimRequest): AsyncIterable<ReclaimProgress>
}

export const storageClient = (rpcs: RpcClient, signal: AbortSignal): StorageClient => ({
  figures: () => rpcs.unary(FIGURES, undefined, { signal, timeoutMs: FIGURES_MS }),
  reclaim: (wish) => rpcs.stream(RECLAIM, wish, { signal }),
})
