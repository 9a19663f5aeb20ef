import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { VisibleFile } from './sight.ts'

const PIECE_BYTES = 1 << 20

/** As CWL writes it: `sha1$…`. */
export async function checksumOf({ real, stats }: VisibleFile): Promise<string> {
  const hash = createHash('sha1')
  const highWaterMark = Math.min(PIECE_BYTES, Math.max(stats.size, 1))
  for await (const piece of createReadStream(real, { highWaterMark })) hash.update(piece as Buffer)
  return `sha1$${hash.digest('hex')}`
}

/** Reads a file once, for as long as it stays as it is; an intermediate result is looked at by every step that takes it. */
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
