/** Finished tasks are forgotten after a while, and with them the blobs that their results name may go. */
import type { HistoryQuery, TaskRecord } from '../storage/journal/journal.ts'
import { openEnd } from './end-envelope.ts'
import { type Shell, setTimer } from './shell.ts'

const LONGEST_WAIT_MS = 10 * 60 * 1000
const SHORTEST_WAIT_MS = 1000

/** From now on, every so often; the next only when the last is over. */
export function keepForgetting(shell: Shell): void {
  if (shell.isClosing) return
  const ms = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, shell.retentionMs / 20))
  setTimer(shell, 'retention', { ms, fire: () => void forgetOld(shell).then(() => keepForgetting(shell)) })
}

async function forgetOld(shell: Shell): Promise<void> {
  const before = shell.clock.now() - shell.retentionMs
  try {
    const tasks = await shell.journal.forget(before)
    if (tasks > 0) shell.log.debug({ tasks }, 'finished tasks were forgotten')
    releaseOutputs(shell, before)
  } catch (error) {
    shell.log.warn({ error }, 'finished tasks could not be forgotten')
  }
}

function releaseOutputs(shell: Shell, before: number): void {
  for (const [task, at] of shell.keptOutputs) {
    if (at >= before) return
    shell.keptOutputs.delete(task)
    shell.roots?.release(task, 'outputs')
  }
}

/**
 * After a start: the outputs of what ended before it are held again. In the background and a page at a time, for there may
 * be many; until then it is enough that blobs count as just touched after a start.
 */
export async function holdKeptOutputs(shell: Shell): Promise<void> {
  if (shell.roots === undefined) return
  const found: [string, number][] = []
  const acceptedFrom = shell.clock.now() - 2 * shell.retentionMs
  try {
    let cursor: string | undefined
    do {
      const query: HistoryQuery = { states: ['completed', 'timeout', 'failed'], acceptedFrom, whole: true }
      const page = await shell.journal.list(query, cursor)
      for (const record of page.records ?? []) holdOutputs(shell, record, found)
      cursor = page.next
    } while (cursor !== undefined && !shell.isClosing)
  } catch (error) {
    if (!shell.isClosing) shell.log.warn({ error }, 'outputs of before the start could not all be held')
  }
  shell.keptOutputs = new Map([...found, ...shell.keptOutputs].sort(([, one], [, other]) => one - other))
}

function holdOutputs(shell: Shell, { task, end, result }: TaskRecord, found: [string, number][]): void {
  if (shell.isClosing || end === undefined || end.at < shell.clock.now() - shell.retentionMs) return
  if (shell.keptOutputs.has(task)) return
  const { roots } = openEnd(result)
  if (roots.length === 0) return
  shell.roots?.hold(task, 'outputs', roots)
  found.push([task, end.at])
}
