import type { BigIntStats } from 'node:fs'
import type { OutputProperty } from '../../model/command.ts'
import type { NodeProperties } from '../../model/node-properties.ts'

const SECOND_NS = 1_000_000_000n

/** Those that were asked for; undefined when none were. */
export function propertiesOf(stats: BigIntStats, wanted: readonly OutputProperty[]): NodeProperties | undefined {
  if (wanted.length === 0) return undefined
  // Towards minus infinity: nanoseconds count forward even before 1970.
  const nanos = ((stats.mtimeNs % SECOND_NS) + SECOND_NS) % SECOND_NS
  const mtime = { seconds: Number((stats.mtimeNs - nanos) / SECOND_NS), nanos: Number(nanos) }
  return {
    named: [],
    mtime: wanted.includes('mtime') ? mtime : undefined,
    unixMode: wanted.includes('unixMode') ? Number(stats.mode & 0o7777n) : undefined,
  }
}

export const isExecutable = (stats: BigIntStats): boolean => (stats.mode & 0o111n) !== 0n
