import { open } from 'node:fs/promises'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { isEmptyDigest } from '../../base/empty-blob.ts'
import { FaultError } from '../../base/fault.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import type { CasClient } from './cas-client.ts'
import { madeBeside } from './part-path.ts'
import type { TransferMeter } from './transfer-meter.ts'
import { verified } from './verified.ts'

/** The bytes of one blob, verified: the last piece is followed by a throw when they were not the blob's. */
export async function* blobPieces(client: CasClient, digest: Digest, meter: TransferMeter): AsyncGenerator<Uint8Array> {
  if (isEmptyDigest(digest)) return meter.moved(1, 0) // never requested: every server has the empty blob
  try {
    for await (const piece of verified(digest, client.read(digest))) {
      meter.moved(0, piece.length)
      yield piece
    }
    meter.moved(1, 0)
  } catch (error) {
    throw error instanceof GrpcError && error.code === STATUS.notFound ? absentBlob(digest) : error
  }
}

export const absentBlob = (digest: Digest, what = 'blob'): FaultError =>
  new FaultError({ kind: 'absent', what: `the server has no ${what} ${formatDigest(digest)}` })

/**
 * For blobs that must be in memory as a whole; `mostBytes` is the limit, because the digest may come from another
 * party.
 */
export async function wholeBlob(client: CasClient, digest: Digest, mostBytes: number): Promise<Uint8Array> {
  if (digest.size > mostBytes) {
    const what = `${formatDigest(digest)} is too large for a directory: at most ${mostBytes} bytes are read as one`
    throw new FaultError({ kind: 'bug', what })
  }
  const pieces: Uint8Array[] = []
  for await (const piece of blobPieces(client, digest, UNHEARD)) pieces.push(Buffer.from(piece))
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
}

const UNHEARD: TransferMeter = { found() {}, moved() {}, held() {} }

export interface FileReadOptions {
  readonly digest: Digest
  readonly path: string
  readonly newId: () => string
  readonly meter: TransferMeter
}

/** The file gets its final name only when it is complete and verified. */
export async function downloadFile(client: CasClient, { digest, path, newId, meter }: FileReadOptions): Promise<void> {
  meter.found(1, digest.size)
  await madeBeside(path, newId(), async (part) => {
    const file = await open(part, 'wx')
    try {
      for await (const piece of blobPieces(client, digest, meter)) await file.writeFile(piece)
    } finally {
      await file.close()
    }
  })
}
