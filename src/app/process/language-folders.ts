import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where languages of the user's own and what was made for languages lie. */
export interface LanguageFolders {
  /** Files like those in `languages/`, over which they go. */
  readonly own: string
  readonly rootfs: string
  /** The file with the results of self-tests. */
  readonly selfTests: string
}

/** Rooms of a worker that is root belong to another user, who cannot look into root's own folders. */
const OPEN_TO_ROOMS = '/var/lib/windlass/rootfs'

function languageFolders(dataDir: string, uid: number): LanguageFolders {
  const own = join(dataDir, 'languages')
  return { own, rootfs: uid === 0 ? OPEN_TO_ROOMS : join(own, 'rootfs'), selfTests: join(own, 'self-tests.json') }
}

/** Parts of compilers that Debian keeps where no room looks. */
const ELSEWHERE = ['/var/lib/ghc']

/** Those that are here, for rooms to see. */
export const toolchainFolders = (): readonly string[] => ELSEWHERE.filter((path) => existsSync(path))

/** For whoever runs this process. */
export const languageFoldersHere = (dataDir: string): LanguageFolders =>
  languageFolders(dataDir, process.getuid?.() ?? 0)
