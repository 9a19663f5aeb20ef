/** One file per blob, the simplest design: each is written under a temporary name, checked, and renamed. */
import { createHash, hash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { access, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Digest } from '../messages.ts'

/** The most concurrent file operations. */
const AT_ONCE = 32
const READ_BYTES = 256 * 1024

export function plainStore(folder: string) {
  for (const kind of ['cas', 'ac']) {
    for (let i = 0; i < 256; i++) {
      mkdirSync(join(folder, kind, i.toString(16).padStart(2, '0')), { recursive: true })
    }
  }
  const temporary = (): string => join(folder, `upload-${randomUUID()}`)
  const pathOf = ({ hash: name, size }: Digest): string => join(folder, 'cas', name.slice(0, 2), `${name}-${size}`)
  const resultPath = ({ hash: name }: Digest): string => join(folder, 'ac', name.slice(0, 2), name)

  async function put(path: string, data: Uint8Array): Promise<void> {
    const aside = temporary()
    await writeFile(aside, data)
    await rename(aside, path)
  }

  return {
    /** The empty blob always exists, although clients do not upload it. */
    has: async (digest: Digest): Promise<boolean> =>
      digest.size === 0 ||
      access(pathOf(digest)).then(
        () => true,
        () => false,
      ),

    read: (digest: Digest): Promise<Buffer> => readFile(pathOf(digest)),

    stream: (digest: Digest): Readable => createReadStream(pathOf(digest), { highWaterMark: READ_BYTES }),

    async write(digest: Digest, data: Uint8Array): Promise<boolean> {
      if (data.length !== digest.size || hash('sha256', data) !== digest.hash) return false
      await put(pathOf(digest), data)
      return true
    },

    /** Returns whether the bytes match their digest. */
    async writeStream(digest: Digest, content: Readable): Promise<boolean> {
      const aside = temporary()
      const sum = createHash('sha256')
      let size = 0
      const hashing = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          sum.update(chunk)
          size += chunk.length
          done(null, chunk)
        },
      })
      await pipeline(content, hashing, createWriteStream(aside))
      const isRight = size === digest.size && sum.digest('hex') === digest.hash
      await (isRight ? rename(aside, pathOf(digest)) : rm(aside))
      return isRight
    },

    readResult: (action: Digest): Promise<Buffer | undefined> => readFile(resultPath(action)).catch(() => undefined),

    writeResult: (action: Digest, result: Uint8Array): Promise<void> => put(resultPath(action), result),
  }
}

export type PlainStore = ReturnType<typeof plainStore>

/** Processes the items, AT_ONCE at a time, and returns the answers in order. */
export async function inParallel<Item, Answer>(
  items: readonly Item[],
  work: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = new Array<Answer>(items.length)
  let next = 0
  const one = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) answers[i] = await work(items[i] as Item)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, one))
  return answers
}
