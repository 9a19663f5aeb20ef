/**
 * A tenant's name space: the same action may have another result under another name. Slashes are allowed, the empty
 * name is the default one.
 */
export type InstanceName = string

/** These words follow the instance in a resource name, so an instance name that contains one would be ambiguous. */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'blobs',
  'uploads',
  'actions',
  'actionResults',
  'operations',
  'capabilities',
  'compressed-blobs',
])

/** In words, why this cannot be the name of an instance; undefined when it can. */
export function instanceNameProblem(name: string): string | undefined {
  if (name === '') return undefined
  for (const segment of name.split('/')) {
    if (segment === '') return 'has an empty segment'
    if (segment === '.' || segment === '..') return `has the segment "${segment}"`
    if (RESERVED_SEGMENTS.has(segment)) return `has the reserved segment "${segment}"`
  }
  return CONTROL.test(name) ? 'has a control character' : undefined
}

const CONTROL = /\p{Cc}/u
