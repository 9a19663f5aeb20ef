import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { VisibleFile } from './sight.ts'

const PIECE_BYTES = 1 << 20

/** In CWL's format: `sha1$…`. */
export async function checksumOf({ real, stats }: VisibleFile): Promise<string> {
  const hash = createHash('sha1')
  const highWaterMark = Math.min(PIECE_BYTES, Math.max(stats.size, 1))
  for await (const piece of createReadStream(real, { highWaterMark })) hash.update(piece as Buffer)
  return `sha1$${hash.digest('hex')}`
}

/** Reads each file once while it is unchanged; every step that uses an intermediate result asks for its checksum. */
export function rememberedChecksums(): (looked: VisibleFile) => Promise<string> {
  const known = new Map<string, Promise<string>>()
  return (looked) => {
    const { dev, ino, size, mtimeMs } = looked.stats
    const key = `${dev} ${ino} ${size} ${mtimeMs}`
    const sum = known.get(key) ?? checksumOf(looked)
    known.set(key, sum)
    return sum
  }
}
