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
  /** One at a time: throws `exists` when one is under way. Stops, and throws `cancelled`, when the signal aborts. */
  reclaim(request: ReclaimRequest, listener: ReclaimListener): Promise<ReclaimProgress>
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

/** A slow client gets fewer progress messages, and none are buffered; it always gets the last one. */
async function reclaim(
  admin: StorageAdmin,
  request: ReclaimRequest,
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
      () => {}, // the call has ended, and its signal is aborted
    )
  }
  const done = await admin.reclaim(request, { signal: call.signal, progress })
  out.write(reclaimProgressToProto(done))
}
