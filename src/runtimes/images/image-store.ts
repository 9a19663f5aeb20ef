import { FaultError, invalid } from '../../base/fault.ts'
import type { ImageName } from './image-name.ts'

/** Where an engine has its images. */
export interface ImageStore {
  /** What it has by that name; undefined for nothing. */
  find(image: ImageName): Promise<StoredImage | undefined>
  /** Brings it from the registry that its name says. Throws when it cannot be had. */
  pull(image: ImageName, withinMs: number): Promise<StoredImage>
  /** False when somebody still needs it. */
  remove(image: ImageName): Promise<boolean>
}

export interface StoredImage {
  /** Names its contents: what a cache key may hold, where a tag may not. */
  readonly digest: string
  readonly bytes: number
  /** What the engine takes for it. */
  readonly source: string
  /** Places of which the image wants each to be a disk of its own. */
  readonly volumes: readonly string[]
  /** What it begins its commands with, for those who ask for that; unless said, nothing. */
  readonly entrypoint?: readonly string[]
}

/** Where it is not there for anybody, or for nobody like us, no other worker will have more luck. */
const HOPELESS =
  /not found|no such (image|manifest)|manifest unknown|name unknown|does not exist|denied|unauthorized|authentication required|no match(ing| for) (manifest|platform)|invalid reference|unsupported/i

/** An image that cannot be had, in words that name it. */
export function notHad(image: ImageName, why: string): FaultError {
  const what = `the container image ${image.text} cannot be had: ${why.trim().slice(-1000)}`
  return HOPELESS.test(why) ? invalid(what) : new FaultError({ kind: 'unavailable', what })
}
