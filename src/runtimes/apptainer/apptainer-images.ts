import { createHash } from 'node:crypto'
import { chmod, mkdir, realpath, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import type { ImageName } from '../images/image-name.ts'
import { type ImageStore, notHad, type StoredImage } from '../images/image-store.ts'
import { type TreeSum, treeDigest } from '../images/tree-digest.ts'
import { removeTree } from '../remove/remove-tree.ts'
import { mismatch } from '../run/mismatch.ts'

export interface ApptainerImagesOptions {
  /** A folder that the user of Apptainer may write to. */
  readonly folder: string
  /** Commands may name images by a path below one of these folders. */
  readonly imageFolders: readonly string[]
  /** Runs Apptainer with these arguments; throws when it fails. */
  readonly errand: (words: readonly string[], withinMs: number) => Promise<void>
  /** Registries that are contacted over plain HTTP. */
  readonly plainRegistries: readonly string[]
}

/**
 * Keeps images as directories. Each image is unpacked once, so a start needs no mount helper and no time to unpack. An
 * image path is accepted only below the configured folders: otherwise a client could open any file of the machine.
 */
export function apptainerImages(options: ApptainerImagesOptions): ImageStore {
  const { folder, errand, plainRegistries } = options
  const sums = new Map<string, Promise<TreeSum>>()
  const sumOf = (path: string): Promise<TreeSum> => {
    const known = sums.get(path) ?? treeDigest(path)
    sums.set(path, known)
    known.catch(() => sums.delete(path))
    return known
  }
  const placeOf = ({ text }: ImageName): string => join(folder, createHash('sha256').update(text).digest('hex'))
  const stored = async (name: ImageName, path: string): Promise<StoredImage> => {
    const { digest, bytes } = await sumOf(path)
    const own = name.kind === 'registry' ? name.digest : undefined
    return { digest: own ?? digest, bytes, source: path, volumes: [] }
  }
  return {
    async find(name) {
      if (name.kind === 'path') return stored(name, await allowed(name, options.imageFolders))
      const place = placeOf(name)
      return (await isThere(place)) ? stored(name, place) : undefined
    },
    async pull(name, withinMs) {
      if (name.kind === 'path') throw mismatch(`the container image ${name.text} is a path, and cannot be pulled`)
      const place = placeOf(name)
      await mkdir(folder, { recursive: true })
      await removeTree(`${place}.new`)
      const plain = plainRegistries.includes(name.registry) ? ['--no-https'] : []
      try {
        await errand(
          ['build', '--sandbox', '--force', ...plain, `${place}.new`, `docker://${pulledAs(name)}`],
          withinMs,
        )
      } catch (error) {
        await removeTree(`${place}.new`)
        throw notHad(name, error instanceof FaultError ? error.message : String(error))
      }
      await chmod(`${place}.new`, 0o755)
      sums.delete(place)
      await removeTree(place)
      await rename(`${place}.new`, place)
      return stored(name, place)
    },
    async remove(name) {
      sums.delete(placeOf(name))
      await removeTree(placeOf(name))
      return true
    },
  }
}

const pulledAs = ({ registry, repository, tag, digest }: ImageName & { kind: 'registry' }): string =>
  `${registry}/${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`

async function allowed({ path, text }: ImageName & { kind: 'path' }, folders: readonly string[]): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  const roots = await Promise.all(folders.map((each) => realpath(each).catch(() => undefined)))
  const isIn = roots.some((root) => root !== undefined && real?.startsWith(`${root}/`) === true)
  // The message is the same for a missing path and for a forbidden one, so that a client cannot probe which files
  // exist.
  if (real === undefined || !isIn)
    throw mismatch(`the container image ${text} cannot be had: it is not among the images of this worker`)
  return real
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
