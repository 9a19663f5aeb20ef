import { digestListOf } from '../../base/digest-list.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { atOnce } from '../at-once.ts'
import type { BlobTarget, OutputBlob } from './blob-target.ts'

const WHOLE_BYTES = 256 * 1024
const AT_ONCE = 4

/** Writes to a store of this very process: for a worker that lives in its server. */
export const storeTarget = (store: BlobStore): BlobTarget => ({
  async store(blobs, signal) {
    const [first] = blobs
    if (first === undefined) return
    const list = digestListOf(
      first.digest.fn,
      blobs.map(({ digest }) => digest),
    )
    const absent = new Uint8Array(blobs.length)
    await store.missing(list, absent)
    const wanted = blobs.filter((_, i) => absent[i] === 1)
    await atOnce(wanted, AT_ONCE, async (blob) => {
      signal.throwIfAborted()
      await (blob.digest.size <= WHOLE_BYTES ? writeWhole(store, blob) : writePieces(store, blob))
    })
  },
})

const writeWhole = async (store: BlobStore, blob: OutputBlob): Promise<void> =>
  store.writeMany(digestListOf(blob.digest.fn, [blob.digest]), [await blob.whole()])

async function writePieces(store: BlobStore, blob: OutputBlob): Promise<void> {
  const writer = store.write(blob.digest, 'identity')
  try {
    for await (const piece of blob.pieces()) await writer.write(piece)
    await writer.commit()
  } finally {
    writer.abort()
  }
}
