import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../src/base/digest.ts'
import { digestListOf } from '../../src/base/digest-list.ts'
import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { until } from './grid.ts'
import { ownFolder } from './worker-here.ts'

export const resultOf = ({ end }: OperationStatus) => actionResultFromProto(end?.result ?? new Uint8Array(), 'sha256')
export const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

export async function contentOf(blobs: BlobStore, digest: Digest | undefined): Promise<string | undefined> {
  if (digest === undefined) return undefined
  let found: string | undefined
  await blobs.readMany(digestListOf(digest.fn, [digest]), {
    found(_, bytes) {
      found = text(bytes)
    },
    absent() {},
  })
  return found
}

/** A command that waits until the test opens the gate. */
export function gate() {
  const folder = ownFolder()
  const [begun, go] = [join(folder, 'begun'), join(folder, 'go')]
  return {
    script: `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done; echo done`,
    begun: () => until(() => existsSync(begun)),
    open: () => writeFileSync(go, ''),
  }
}
