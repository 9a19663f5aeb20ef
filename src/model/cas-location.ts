import { type Digest, digestFunctionByName } from '../base/digest.ts'
import { isHash, parseSize } from '../base/digest-text.ts'

/**
 * The location of workflow data in the blob store, as it appears in CWL values: `cas:file/sha256/HASH/SIZE` is a blob,
 * `cas:program/…` an executable one, and `cas:tree/sha256/HASH/SIZE/a/b` the entry `a/b` of a directory. The first two
 * contain no file name, so nothing can be found beside them.
 */
export type CasLocation =
  | { readonly kind: 'file'; readonly digest: Digest; readonly executable: boolean }
  | { readonly kind: 'tree'; readonly digest: Digest; readonly path: readonly string[] }

const SHAPE = /^cas:(file|program|tree)\/([a-z0-9]{1,20})\/([0-9a-f]{1,128})\/([0-9]{1,16})(?:\/(.*))?$/s

/** Undefined for everything that is not written in this one way. */
export function parseCasLocation(text: string): CasLocation | undefined {
  const [, kind, name = '', hash = '', number = '', rest] = SHAPE.exec(text) ?? []
  const fn = digestFunctionByName(name)
  const size = parseSize(number)
  if (kind === undefined || fn === undefined || size === undefined || !isHash(fn, hash)) return undefined
  const digest = { fn, hash, size }
  if (kind !== 'tree') return rest === undefined ? { kind: 'file', digest, executable: kind === 'program' } : undefined
  const path = namesIn(rest ?? '')
  return path && { kind: 'tree', digest, path }
}

function namesIn(path: string): readonly string[] | undefined {
  try {
    const names = path.replace(/\/+$/, '').split('/').map(decodeURIComponent)
    if (names.length === 1 && names[0] === '') return []
    return names.some((name) => name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) ? undefined : names
  } catch {
    return undefined
  }
}

export const fileLocation = ({ fn, hash, size }: Digest, executable = false): string =>
  `cas:${executable ? 'program' : 'file'}/${fn}/${hash}/${size}`

export const treeLocation = ({ fn, hash, size }: Digest): string => `cas:tree/${fn}/${hash}/${size}`
