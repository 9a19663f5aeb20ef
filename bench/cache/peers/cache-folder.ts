/** The folder of downloads that are reused in later runs. */
import { homedir } from 'node:os'
import { join } from 'node:path'

export const cachePath = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), `windlass-${name}`)
