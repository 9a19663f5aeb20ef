import { isAbsolute } from 'node:path'
import { invalid } from '../../base/fault.ts'

/** An image as a command names it: one of a registry, or one on the worker's disk. */
export type ImageName =
  | {
      readonly kind: 'registry'
      /** For example `docker.io`; with a port if it has one. */
      readonly registry: string
      /** For example `library/debian`. */
      readonly repository: string
      /** Undefined when only a digest is given. */
      readonly tag: string | undefined
      readonly digest: string | undefined
      /** The complete name. Two names of one image have the same text. */
      readonly text: string
    }
  | { readonly kind: 'path'; readonly path: string; readonly text: string }

const DEFAULT_REGISTRY = 'docker.io'
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9][a-z0-9-]{0,62})*|\[[0-9a-f:]+\])(?::\d{1,5})?$/i
const PART = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/
const MOST_LENGTH = 512

/**
 * Parses `container-image` and `docker_image`: `docker://debian:12`, `debian:12`, or a path. Other schemes are refused,
 * because they would make the worker fetch from any address that a client chooses.
 */
export function imageName(words: string): ImageName {
  if (words.length > MOST_LENGTH) throw invalid('the name of the container image is too long')
  if (isAbsolute(words)) return { kind: 'path', path: words, text: words }
  const bare = words.startsWith('docker://') ? words.slice('docker://'.length) : words
  const [named = '', digest, ...more] = bare.split('@')
  const slash = named.lastIndexOf('/')
  const colon = named.indexOf(':', slash + 1)
  const [path, tag] = colon === -1 ? [named, undefined] : [named.slice(0, colon), named.slice(colon + 1)]
  const parts = path.split('/')
  const hasRegistry = parts.length > 1 && /[.:]|^localhost$/.test(parts[0] as string)
  const registry = (hasRegistry ? (parts.shift() as string) : DEFAULT_REGISTRY).toLowerCase()
  const isWellFormed =
    more.length === 0 &&
    HOST.test(registry) &&
    parts.every((part) => PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isWellFormed) throw invalid(`${JSON.stringify(words)} is not the name of a container image`)
  const repository = registry === DEFAULT_REGISTRY && parts.length === 1 ? `library/${parts[0]}` : parts.join('/')
  const wanted = tag ?? (digest === undefined ? 'latest' : undefined)
  const ending = `${wanted === undefined ? '' : `:${wanted}`}${digest === undefined ? '' : `@${digest}`}`
  return { kind: 'registry', registry, repository, tag: wanted, digest, text: `${registry}/${repository}${ending}` }
}
