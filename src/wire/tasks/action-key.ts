import { type Digest, digestFunctionByName } from '../../base/digest.ts'
import { parseDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'

/**
 * The key of an action within its instance: its digest, which covers command, inputs, platform and salt. It contains
 * the digest function, because the same hash under another function is another action.
 */
export const actionKeyOf = ({ fn, hash, size }: Digest): string => `${fn}/${hash}/${size}`

/** Undefined for a key of another kind: tasks of other origins have keys too. */
export function actionOfKey(key: string): Digest | undefined {
  const slash = key.indexOf('/')
  const fn = digestFunctionByName(key.slice(0, Math.max(0, slash)))
  if (fn === undefined) return undefined
  try {
    return parseDigest(key.slice(slash + 1), fn)
  } catch (error) {
    if (error instanceof FaultError) return undefined
    throw error
  }
}
