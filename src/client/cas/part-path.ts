import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Makes a file or a directory beside its final name and gives it that name when it is whole: whoever looks sees all of
 * it or nothing. When making it fails, nothing stays; only a killed process leaves a `.part` behind.
 */
export async function madeBeside<T>(path: string, id: string, make: (part: string) => Promise<T>): Promise<T> {
  const part = join(dirname(path), `.${basename(path)}.${id.slice(0, 8)}.part`)
  try {
    const made = await make(part)
    await rename(part, path)
    return made
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    throw error
  }
}
