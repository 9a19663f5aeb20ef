import type { Clock } from '../../../base/clock.ts'
import type { Instance } from '../../../services/instances/instances.ts'
import type { BlobWriter } from '../../../storage/blob-store.ts'
import type { UploadName } from '../../../wire/reapi/resource-name.ts'
import { type Unpacker, unpacker } from './packing.ts'

/**
 * Unfinished uploads. An upload whose stream was interrupted is kept for a while under its resource name, so that the
 * client can resume it.
 */
const KEPT_MS = 10 * 60 * 1000
const KEPT_UPLOADS = 1000

export interface BlobUpload {
  /** Bytes received so far, as sent (compressed or not). */
  committed: number
  write(bytes: Uint8Array): void | Promise<void>
  finish(): Promise<void>
  abort(): void
}

export function beginUpload({ uploads }: Instance, { digest, compressor }: UploadName): BlobUpload {
  const writer = uploads.write(digest, compressor === 'zstd' ? 'zstd' : 'identity')
  const through =
    compressor === 'identity' || compressor === 'zstd'
      ? undefined
      : unpacker(compressor, {
          onPiece: (bytes) => writer.write(bytes),
          maxPackedBytes: mostPackedBytes(digest.size),
          size: digest.size,
        })
  return upload(writer, through)
}

/** Compression adds at most a few bytes; without a limit, a client could send empty blocks forever. */
const mostPackedBytes = (size: number): number => size + size / 8 + 64 * 1024

const upload = (writer: BlobWriter, through: Unpacker | undefined): BlobUpload => ({
  committed: 0,
  write(bytes) {
    this.committed += bytes.length
    return (through ?? writer).write(bytes)
  },
  async finish() {
    await through?.end()
    await writer.commit()
  },
  abort() {
    through?.abort()
    writer.abort()
  },
})

export interface PausedUploads {
  committed(name: string): number
  /** Returns the upload to the stream that resumes it. */
  take(name: string): BlobUpload | undefined
  keep(name: string, upload: BlobUpload): void
}

export function pausedUploads(clock: Clock): PausedUploads {
  const paused = new Map<string, { upload: BlobUpload; cancel: () => void }>()
  const take = (name: string): BlobUpload | undefined => {
    const kept = paused.get(name)
    paused.delete(name)
    kept?.cancel()
    return kept?.upload
  }
  return {
    committed: (name) => paused.get(name)?.upload.committed ?? 0,
    take,
    keep(name, upload) {
      take(name)?.abort()
      const [oldest] = paused.keys()
      if (paused.size >= KEPT_UPLOADS && oldest !== undefined) take(oldest)?.abort()
      paused.set(name, { upload, cancel: clock.after(KEPT_MS, () => take(name)?.abort()) })
    },
  }
}
