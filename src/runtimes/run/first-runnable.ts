import { access, constants } from 'node:fs/promises'

/** The folders where distributions install programs; the worker's own PATH is not used. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin']

/** Returns the path of a program of this machine; undefined when it is not installed. */
export const firstRunnable = (name: string): Promise<string | undefined> => firstRunnableIn(FOLDERS, name)

export async function firstRunnableIn(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const path of folders.map((folder) => `${folder}/${name}`)) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}
