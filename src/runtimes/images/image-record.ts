import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** An image that this worker pulled and may remove. */
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
 * Records across restarts which images are ours. Images that it does not name are never removed; so a lost or damaged
 * record costs only disk space.
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
      writing = writing.then(() => save(text)).catch(() => {}) // a lost record costs only disk space
      return writing
    },
  }
}
