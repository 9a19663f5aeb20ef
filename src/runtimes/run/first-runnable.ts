import { access, constants } from 'node:fs/promises'

/** Where distributions put programs: the PATH of a worker is its own affair. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin']

/** The path of a program of this machine; undefined when it has none of that name. */
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
