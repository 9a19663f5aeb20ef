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

/** The storage of a Windlass server, for operators. */
export interface StorageClient {
  figures(): Promise<StorageFigures>
  /** Yields the progress; the last value is the end. Leaving the iteration stops the reclaim. */
  reclaim(request: ReclaimRequest): AsyncIterable<ReclaimProgress>
}

export const storageClient = (rpcs: RpcClient, signal: AbortSignal): StorageClient => ({
  figures: () => rpcs.unary(FIGURES, undefined, { signal, timeoutMs: FIGURES_MS }),
  reclaim: (request) => rpcs.stream(RECLAIM, request, { signal }),
})
