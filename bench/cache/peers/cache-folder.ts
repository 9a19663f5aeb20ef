/** Where what was built or downloaded once is kept between runs. */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const cachePath = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), `windlass-${name}`)

export function cacheFolder(name: string): string {
  const folder = cachePath(name)
  mkdirSync(folder, { recursive: true })
  return folder
}
