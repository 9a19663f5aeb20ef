import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Creates a file or directory under a temporary name and renames it when it is complete, so that readers see all of it
 * or nothing. A failure leaves nothing behind; only a killed process leaves a `.part`.
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
