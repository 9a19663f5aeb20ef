import { digestListOf } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { OperationEnd, OperationStatus } from '../../engine/tasks/status.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { areHeld } from '../../storage/held.ts'
import { formatOperationName } from '../../wire/google/operations.ts'
import type { ServerLog } from '../../wire/reapi/execution-operation.ts'
import type { ActionSpec } from '../../wire/tasks/action-spec.ts'

/** An operation that has ended. */
export interface Ended extends OperationStatus {
  readonly end: OperationEnd
}

/** Clients save it under this name. */
const NAME = 'windlass-task.log'

/**
 * What the grid knows of a task that it could not run, or that had no more time, for the person whose build failed of it.
 * The same words whenever they are asked for, so that they are one blob. A wish: a store without room goes without.
 */
export async function serverLogs(status: Ended, spec: ActionSpec, blobs: BlobStore): Promise<ServerLog[]> {
  if (status.end.state !== 'failed' && status.end.state !== 'timeout') return []
  const bytes = Buffer.from(wordsFor(status, spec))
  const digest = digestOf(spec.actionDigest.fn, bytes)
  const list = digestListOf(digest.fn, [digest])
  try {
    if (!(await areHeld(list, blobs))) await blobs.writeMany(list, [bytes])
    return [{ name: NAME, digest, isForPeople: true }]
  } catch (error) {
    if (error instanceof FaultError) return []
    throw error
  }
}

function wordsFor(status: Ended, { actionDigest }: ActionSpec): string {
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

/** A worker's own words must not pass for lines of ours. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')
