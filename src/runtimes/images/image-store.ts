import { FaultError } from '../../base/fault.ts'
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

interface Trouble {
  readonly pattern: RegExp
  readonly words: string
  /** No other worker will have more luck. */
  readonly isFinal: boolean
}

const TROUBLES: readonly Trouble[] = [
  {
    pattern: /no match(ing| for) (manifest|platform)|unsupported/i,
    words: 'it is not there for this platform',
    isFinal: true,
  },
  {
    pattern: /denied|unauthorized|authentication required|forbidden/i,
    words: 'its registry denies access, or has no such image',
    isFinal: true,
  },
  {
    pattern: /not found|no such (image|manifest)|manifest unknown|name unknown|does not exist|invalid reference/i,
    words: 'its registry has no such image',
    isFinal: true,
  },
  {
    pattern: /timeout|timed out|deadline|refused|unreachable|no such host|lookup|reset|EOF|no route|dial/i,
    words: 'its registry cannot be reached',
    isFinal: false,
  },
]
const OTHER = { words: 'the pull failed; the log of the engine says why', isFinal: false }

/**
 * An image that cannot be had, in our own words: what the engine says holds what the registry answered, and a name can lead an engine
 * to services whose answers are not for the caller. The engine's words are the cause, for the log of the worker.
 */
export function notHad(image: ImageName, why: string): FaultError {
  const { words, isFinal } = TROUBLES.find(({ pattern }) => pattern.test(why)) ?? OTHER
  const what = `the container image ${image.text} cannot be had: ${words}`
  return new FaultError({ kind: isFinal ? 'invalid' : 'unavailable', what }, new Error(why.trim().slice(-1000)))
}
