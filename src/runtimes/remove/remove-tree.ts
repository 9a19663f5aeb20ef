import { chmod, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'

/**
 * Removes a directory that a command left, of any depth and with any modes: subdirectories are moved up before they are
 * read, so that no path has more than two names. Call it when every process of the room is dead.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true }) // sufficient in nearly all cases
  } catch {
    const place = `${path}.going`
    await mkdir(place, { recursive: true, mode: 0o700 })
    await chmod(path, 0o700)
    await rename(path, `${place}/0`)
    await flatten(place)
    await rmdir(place)
  }
}

/** Reads names as bytes, because they need not be valid UTF-8. */
async function flatten(place: string): Promise<void> {
  for (let next = 0, made = 1; next < made; next++) {
    const here = Buffer.from(`${place}/${next}`)
    for (const entry of await readdir(here, { withFileTypes: true, encoding: 'buffer' })) {
      const path = Buffer.concat([here, Buffer.from('/'), entry.name])
      if (!entry.isDirectory()) await unlink(path)
      else {
        await chmod(path, 0o700)
        await rename(path, `${place}/${made++}`)
      }
    }
    await rmdir(here)
  }
}
