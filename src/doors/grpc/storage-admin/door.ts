import type { Outgoing, ServerCall, Service } from '../../../grpc/service.ts'
import type { ReclaimProgress, ReclaimRequest, StorageFigures } from '../../../model/storage-figures.ts'
import {
  figuresRequestFromProto,
  figuresToProto,
  reclaimProgressToProto,
  reclaimRequestFromProto,
} from '../../../wire/admin/storage.ts'
import { reportingFaults } from '../report-faults.ts'

/** The operator's view of a store. */
export interface StorageAdmin {
  figures(): Promise<StorageFigures>
  /** One at a time: throws `exists` when one is under way. Stops, and throws `cancelled`, when the signal says so. */
  reclaim(wish: ReclaimRequest, listener: ReclaimListener): Promise<ReclaimProgress>
}

interface ReclaimListener {
  readonly signal: AbortSignal
  progress(progress: ReclaimProgress): void
}

const STORAGE_SERVICE = 'windlass.storage.v1.Storage'

export const storageAdmin = (admin: StorageAdmin): Service =>
  reportingFaults({
    name: STORAGE_SERVICE,
    methods: {
      Figures: {
        kind: 'unary',
        async handle(bytes) {
          figuresRequestFromProto(bytes)
          return figuresToProto(await admin.figures())
        },
      },
      Reclaim: {
        kind: 'serverStreaming',
        handle: (bytes, out, call) => reclaim(admin, reclaimRequestFromProto(bytes), { out, call }),
      },
    },
  })

/** A slow caller hears less often, and nothing piles up for it; the last word always comes. */
async function reclaim(
  admin: StorageAdmin,
  wish: ReclaimRequest,
  { out, call }: { readonly out: Outgoing; readonly call: ServerCall },
): Promise<void> {
  let isBehind = false
  const progress = (now: ReclaimProgress): void => {
    if (isBehind || out.write(reclaimProgressToProto(now))) return
    isBehind = true
    out.drained().then(
      () => {
        isBehind = false
      },
      () => {}, // the call is over, and its signal says so
    )
  }
  const done = await admin.reclaim(wish, { signal: call.signal, progress })
  out.write(reclaimProgressToProto(done))
}
