import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { storageClient } from '../../client/cas/storage-client.ts'
import type { ReclaimGoal, ReclaimProgress } from '../../model/storage-figures.ts'
import { statusLine } from '../output/progress.ts'
import { bytesText, countText, parseBytes, parseSeconds } from '../output/text.ts'
import { withServer } from '../session/cas-session.ts'
import type { CasServerOptions } from '../session/grid-flags.ts'

export interface GcOptions extends CasServerOptions {
  readonly to?: string
  readonly olderThan?: string
  readonly dryRun?: true
}

export async function runGc(options: GcOptions, terminal: Terminal): Promise<void> {
  const goal = goalOf(options)
  const isDryRun = options.dryRun === true
  await withServer(options, terminal, async ({ rpcs, signal }) => {
    const line = statusLine(terminal, systemClock)
    let done: ReclaimProgress | undefined
    try {
      for await (const progress of storageClient(rpcs, signal).reclaim({ goal, isDryRun })) {
        if (progress.isDone) done = progress
        else line.show(() => `${sums(progress)} freed, ${bytesText(progress.diskBytes)} in use`)
      }
    } finally {
      line.clear()
    }
    if (done === undefined)
      throw new FaultError({ kind: 'unavailable', what: 'the server ended the call without a result' })
    terminal.out(options.json ? jsonText(done, isDryRun) : doneText(done, goal, isDryRun))
  })
}

function goalOf({ to, olderThan }: GcOptions): ReclaimGoal {
  if (to !== undefined && olderThan !== undefined) throw invalid('--to and --older-than: one or the other')
  if (to !== undefined) return { kind: 'size', toBytes: parseBytes('--to', to) }
  if (olderThan === undefined) return { kind: 'waste' }
  return { kind: 'age', olderThanSeconds: parseSeconds('--older-than', olderThan) }
}

const sums = ({ freedBytes }: ReclaimProgress): string => bytesText(Math.max(0, freedBytes))

const jsonText = ({ isDone: _, ...figures }: ReclaimProgress, isDryRun: boolean): string =>
  `${JSON.stringify({ ...figures, dryRun: isDryRun })}\n`

function doneText(done: ReclaimProgress, goal: ReclaimGoal, isDryRun: boolean): string {
  const { evictedBlobs, diskBytes, copiedBytes, pinnedBytes, openFileBytes } = done
  const blobs = `${countText(evictedBlobs)} blobs`
  if (isDryRun) return `would evict ${blobs} and free about ${sums(done)} of ${bytesText(diskBytes)}\n`
  const moved = copiedBytes > 0 ? `, moved ${bytesText(copiedBytes)}` : ''
  const text = `evicted ${blobs}, freed ${sums(done)}${moved}; ${bytesText(diskBytes)} in use\n`
  if (goal.kind !== 'size' || diskBytes <= goal.toBytes) return text
  const pinned = pinnedBytes > 0 ? `${bytesText(pinnedBytes)} are pinned, ` : ''
  return `${text}that is more than was asked for: ${pinned}${bytesText(openFileBytes)} are in the file being written\n`
}
