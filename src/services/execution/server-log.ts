import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { OperationEnd, OperationStatus } from '../../engine/tasks/status.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { areHeld } from '../../storage/read-blobs.ts'
import type { ServerLog } from '../../wire/reapi/execution.ts'
import { formatOperationName } from '../../wire/reapi/operation-name.ts'

/** An operation that has ended. */
export interface Ended extends OperationStatus {
  readonly end: OperationEnd
}

/** Clients save the log under this name. */
const NAME = 'windlass-task.log'

/**
 * The log of a task that failed or timed out, for the user of the build. Its text is the same on every request, so that
 * it is one blob. The log is optional: if the store is full, there is none.
 */
export async function serverLogs(status: Ended, actionDigest: Digest, blobs: BlobStore): Promise<ServerLog[]> {
  const bytes = Buffer.from(logText(status, actionDigest))
  const digest = digestOf(actionDigest.fn, bytes)
  const list = digestListOf(digest.fn, [digest])
  try {
    if (!(await areHeld(list, blobs))) await blobs.writeMany(list, [bytes])
    return [{ name: NAME, digest, isHumanReadable: true }]
  } catch (error) {
    if (error instanceof FaultError) return []
    throw error
  }
}

function logText(status: Ended, actionDigest: Digest): string {
  const { end, instance, operation, task, attempt, worker, startedAt } = status
  const ranFrom = startedAt ?? status.assignedAt
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['task', task],
    ['operation', formatOperationName({ instance, id: operation })],
    ['action', `${actionDigest.fn} ${formatDigest(actionDigest)}`],
    ['state', `${end.state} (${end.why})`],
    ['why', oneLine(end.what)],
    ['attempts', `${attempt}`],
    ['last worker', worker === undefined ? 'none' : oneLine(worker)],
    ['accepted', timeOf(status.acceptedAt)],
    ['queued', timeOf(status.queuedAt)],
    ['assigned', timeOf(status.assignedAt)],
    ['started', timeOf(startedAt)],
    ['ended', timeOf(end.at)],
    ['last attempt', ranFrom === undefined ? undefined : `${((end.at - ranFrom) / 1000).toFixed(3)} s`],
  ]
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(12)}  ${value}\n`])).join('')
}

const timeOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()

/** Text of a worker must not look like a line of this log. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')
