import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** An image that this worker brought to its machine, and may remove again. */
export interface RecordedImage {
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly usedAt: number
}

export interface ImageRecord {
  read(): Promise<Map<string, RecordedImage>>
  write(images: ReadonlyMap<string, RecordedImage>): Promise<void>
}

/**
 * Which images are ours, from one life of a worker to the next. What a record does not name is somebody else's and never removed; so a
 * record that is lost or spoilt loses disk space and nothing more.
 */
export function imageRecord(folder: string): ImageRecord {
  const path = join(folder, 'images.json')
  let writing: Promise<void> = Promise.resolve()
  const save = async (text: string): Promise<void> => {
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
  return {
    async read() {
      try {
        const entries = Object.entries(JSON.parse(await readFile(path, 'utf8')) as Record<string, RecordedImage>)
        return new Map(
          entries.map(([name, { bytes, usedAt }]) => [name, { bytes: Number(bytes), usedAt: Number(usedAt) }]),
        )
      } catch {
        return new Map()
      }
    },
    write(images) {
      const text = JSON.stringify(Object.fromEntries(images))
      writing = writing.then(() => save(text)).catch(() => {}) // as above
      return writing
    },
  }
}
