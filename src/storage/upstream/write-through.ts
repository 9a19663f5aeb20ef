import type { BlobWriter } from '../blob-store.ts'
import type { GuardedUpstream } from './outage.ts'

export interface There {
  there: () => BlobWriter
  readonly asking: GuardedUpstream
}

/**
 * Writes to the local store and to the upstream. Only the local store decides the outcome: after the upstream fails
 * once, nothing more is written to it.
 */
export function bothWriter(here: BlobWriter, { there, asking }: There): BlobWriter {
  let upstream: BlobWriter | undefined
  let isOut = false
  const inStep = async (step: (writer: BlobWriter) => void | Promise<void>): Promise<void> => {
    if (isOut) return
    let isDone = false
    await asking.attempt('store a blob', async () => {
      upstream ??= there()
      await step(upstream)
      isDone = true
    })
    if (isDone) return
    isOut = true
    upstream?.abort()
  }
  return {
    async write(bytes) {
      await Promise.all([here.write(bytes), inStep((writer) => writer.write(bytes))])
    },
    async commit() {
      await Promise.all([here.commit(), inStep((writer) => writer.commit())])
    },
    abort() {
      here.abort()
      upstream?.abort()
    },
  }
}
