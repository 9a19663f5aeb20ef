import { FaultError } from '../../base/fault.ts'
import type { ImageName } from './image-name.ts'

/** The images of an engine. */
export interface ImageStore {
  /** Returns the image of that name; undefined when there is none. */
  find(image: ImageName): Promise<StoredImage | undefined>
  /** Pulls the image from the registry in its name. Throws when the pull fails. */
  pull(image: ImageName, withinMs: number): Promise<StoredImage>
  /** Returns false when a container uses the image. */
  remove(image: ImageName): Promise<boolean>
}

export interface StoredImage {
  /** A digest of its contents, for cache keys, where a tag is not sufficient. */
  readonly digest: string
  readonly bytes: number
  /** The name that the engine accepts for it. */
  readonly source: string
  /** The volumes that the image declares. */
  readonly volumes: readonly string[]
  /** The image's entrypoint, for commands that ask for it; empty if it has none. */
  readonly entrypoint?: readonly string[]
}

interface Trouble {
  readonly pattern: RegExp
  readonly words: string
  /** Every other worker would fail too. */
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
 * The error for an image that cannot be pulled. Its message does not contain the engine's message, which includes the
 * registry's response: an image name can direct the engine to internal services, and their responses must not reach the
 * client. The engine's message is the cause, for the worker's log.
 */
export function notHad(image: ImageName, why: string): FaultError {
  const { words, isFinal } = TROUBLES.find(({ pattern }) => pattern.test(why)) ?? OTHER
  const what = `the container image ${image.text} cannot be had: ${words}`
  return new FaultError({ kind: isFinal ? 'invalid' : 'unavailable', what }, new Error(why.trim().slice(-1000)))
}
