import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folders of the user's own languages and of built language systems. */
export interface LanguageFolders {
  /** Files like those in `languages/`, which they override. */
  readonly own: string
  readonly rootfs: string
  /** The file with the results of self-tests. */
  readonly selfTests: string
}

/** Rooms of a root worker run as another user, which cannot read root's own folders. */
const OPEN_TO_ROOMS = '/var/lib/windlass/rootfs'

function languageFolders(dataDir: string, uid: number): LanguageFolders {
  const own = join(dataDir, 'languages')
  return { own, rootfs: uid === 0 ? OPEN_TO_ROOMS : join(own, 'rootfs'), selfTests: join(own, 'self-tests.json') }
}

/** Parts of compilers that Debian installs outside the folders that rooms see. */
const ELSEWHERE = ['/var/lib/ghc']

/** Returns the folders that exist, so that rooms can see them. */
export const toolchainFolders = (): readonly string[] => ELSEWHERE.filter((path) => existsSync(path))

/** The folders for the user of this process. */
export const languageFoldersHere = (dataDir: string): LanguageFolders =>
  languageFolders(dataDir, process.getuid?.() ?? 0)
