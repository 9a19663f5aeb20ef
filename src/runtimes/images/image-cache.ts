import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { mismatch } from '../run/mismatch.ts'
import { type ImageName, imageName } from './image-name.ts'
import { imageRecord, type RecordedImage } from './image-record.ts'
import type { ImageStore, StoredImage } from './image-store.ts'
import { registryProblem } from './registry-rule.ts'

/** When to contact the registry: for every use, only for images that are not present, or never. */
export type PullPolicy = 'always' | 'if-missing' | 'never'

export interface ImagePolicy {
  readonly pull: PullPolicy
  /** The limit for all images that this worker pulled; the least recently used are removed first. */
  readonly maxBytes: number
  /** The image of commands that name none; undefined when each command must name one. */
  readonly image: string | undefined
  /** The registries that images may come from; if undefined, any whose name is not a private address. */
  readonly registries?: readonly string[] | undefined
  readonly pullMs?: number
}

export interface ImageCacheOptions extends ImagePolicy {
  readonly store: ImageStore
  readonly clock: Pick<Clock, 'now'>
  /** A folder for the record of images that this worker pulled. */
  readonly folder: string
}

/** The images of a worker: pulled when needed, kept while in use, and removed least recently used first. */
export interface ImageCache {
  /** Returns the command's image and keeps it until it is released; undefined when the signal was aborted first. */
  hold(words: string | undefined, signal: AbortSignal): Promise<HeldImage | undefined>
}

export interface HeldImage extends StoredImage, Disposable {
  readonly name: ImageName
}

const PULL_MS = 15 * 60_000

export function imageCache(options: ImageCacheOptions): ImageCache {
  const entries = new ImageEntries(options)
  return {
    async hold(words, signal) {
      const name = nameOf(words, options)
      const release = entries.use(name)
      try {
        const stored = await unlessAborted(entries.have(name), signal)
        if (stored === undefined) release()
        return stored && { ...stored, name, [Symbol.dispose]: release }
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

function nameOf(words: string | undefined, { image, registries }: ImagePolicy): ImageName {
  const said = words === undefined || words === '' ? image : words
  if (said === undefined)
    throw mismatch('the command names no container image, and this worker has none for such commands')
  const name = imageName(said)
  // An image that is present may have any name: without a list of registries only pulls are restricted.
  if (registries !== undefined) mustBeAllowed(name, registries)
  return name
}

function mustBeAllowed(name: ImageName, registries: readonly string[] | undefined): void {
  const problem = name.kind === 'registry' ? registryProblem(name.registry, registries) : undefined
  if (problem !== undefined) throw mismatch(`the container image ${name.text} cannot be had: ${problem}`)
}

/** An abort does not stop the pull: other commands wait for it or use the image later. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const abort = (): void => aborted.resolve(undefined)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  work.catch(() => {}) // reported by the race, or ignored after it
  try {
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

class ImageEntries {
  readonly #options: ImageCacheOptions
  readonly #record: ReturnType<typeof imageRecord>
  readonly #inUse = new Map<string, number>()
  readonly #pulling = new Map<string, Promise<StoredImage>>()
  readonly #going = new Map<string, Promise<boolean>>()
  readonly #ours: Promise<Map<string, RecordedImage>>

  constructor(options: ImageCacheOptions) {
    this.#options = options
    this.#record = imageRecord(options.folder)
    this.#ours = this.#record.read()
  }

  /** Counted before the lookup, so that the image cannot be removed in between. */
  use({ text }: ImageName): () => void {
    this.#inUse.set(text, (this.#inUse.get(text) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const left = (this.#inUse.get(text) ?? 1) - 1
      if (left > 0) this.#inUse.set(text, left)
      else this.#inUse.delete(text)
    }
  }

  async have(name: ImageName): Promise<StoredImage> {
    const { store, pull } = this.#options
    await this.#going.get(name.text)
    // A digest always names the same image, so the registry has nothing newer.
    const isFixed = name.kind === 'path' || name.digest !== undefined
    const here = pull === 'always' && !isFixed ? undefined : await store.find(name)
    if (here !== undefined) {
      await this.#touch(name)
      return here
    }
    if (pull === 'never') throw absent(name, 'it is not on this worker, which pulls none')
    if (name.kind === 'path') throw absent(name, 'it is not on this worker')
    mustBeAllowed(name, this.#options.registries)
    const under = this.#pulling.get(name.text)
    if (under !== undefined) return under
    const pulling = this.#pull(name).finally(() => this.#pulling.delete(name.text))
    this.#pulling.set(name.text, pulling)
    return pulling
  }

  async #pull(name: ImageName): Promise<StoredImage> {
    const { store, clock, pullMs = PULL_MS } = this.#options
    const ours = await this.#ours
    // The worker does not own an image that was present before and that it did not pull. An update does not change
    // that.
    const isTheirs = !ours.has(name.text) && (await store.find(name)) !== undefined
    const image = await store.pull(name, pullMs)
    if (!isTheirs) {
      ours.set(name.text, { bytes: image.bytes, usedAt: clock.now() })
      await this.#makeRoom(ours)
      await this.#record.write(ours)
    }
    return image
  }

  async #touch({ text }: ImageName): Promise<void> {
    const ours = await this.#ours
    const known = ours.get(text)
    if (known === undefined) return
    ours.set(text, { ...known, usedAt: this.#options.clock.now() })
    void this.#record.write(ours)
  }

  async #makeRoom(ours: Map<string, RecordedImage>): Promise<void> {
    const { store, maxBytes } = this.#options
    const oldestFirst = [...ours].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    let sum = oldestFirst.reduce((all, [, { bytes }]) => all + bytes, 0)
    for (const [text, { bytes }] of oldestFirst) {
      if (sum <= maxBytes) return
      if (this.#inUse.has(text)) continue
      const going = store.remove(imageName(text)).catch(() => false)
      this.#going.set(text, going) // a command that requests the image now finds none, not a partly removed one
      const isGone = await going
      this.#going.delete(text)
      if (!isGone) continue
      ours.delete(text)
      sum -= bytes
    }
  }
}

const absent = ({ text }: ImageName, why: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the container image ${text} cannot be had: ${why}` })
