import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface TreeSum {
  /** Covers names, kinds, modes and contents; not times and owners, which differ between workers. */
  readonly digest: string
  readonly bytes: number
}

/** Returns the digest of a file or directory. Links are not followed. */
export async function treeDigest(path: string): Promise<TreeSum> {
  const hash = createHash('sha256')
  let bytes = 0
  const walk = async (at: string, name: string): Promise<void> => {
    const found = await lstat(at)
    const say = (kind: string, what = ''): void =>
      void hash.update(`${JSON.stringify([name, kind, found.mode & 0o7777, what])}\n`)
    if (found.isSymbolicLink()) return say('symlink', await readlink(at))
    if (found.isFile()) {
      bytes += found.size
      return say('file', await fileDigest(at))
    }
    if (!found.isDirectory()) return say('other')
    say('directory')
    for (const each of (await readdir(at)).sort()) await walk(join(at, each), `${name}/${each}`)
  }
  await walk(path, '')
  return { digest: `sha256:${hash.digest('hex')}`, bytes }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece)
  return hash.digest('hex')
}
