/** Deletes finished tasks after the retention time, and unpins the blobs that their results name. */

import type { HistoryQuery, TaskRecord } from '../storage/journal/journal.ts'
import type { EngineState } from './engine-state.ts'
import { openEnd } from './tasks/envelopes.ts'

const LONGEST_WAIT_MS = 10 * 60 * 1000
const SHORTEST_WAIT_MS = 1000

/** Repeats the deletion. Each run begins one interval after the end of the previous run. */
export function keepForgetting(engine: EngineState): void {
  if (engine.isClosing) return
  const ms = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, engine.retentionMs / 20))
  engine.timers.set('retention', ms, () => void forgetOld(engine).then(() => keepForgetting(engine)))
}

async function forgetOld(engine: EngineState): Promise<void> {
  const before = engine.clock.now() - engine.retentionMs
  try {
    const tasks = await engine.journal.forget(before)
    if (tasks > 0) engine.log.debug({ tasks }, 'finished tasks were forgotten')
    releaseOutputs(engine, before)
  } catch (error) {
    engine.log.warn({ error }, 'cannot delete old tasks')
  }
}

function releaseOutputs(engine: EngineState, before: number): void {
  for (const [task, at] of engine.keptOutputs) {
    if (at >= before) return
    engine.keptOutputs.delete(task)
    engine.roots?.release(task, 'outputs')
  }
}

/**
 * Pins the outputs of finished tasks again after a start. There may be many, so this runs in the background, one page
 * at a time. Blobs that are not pinned yet are not evicted meanwhile, because a start counts as an access to all blobs.
 */
export async function holdKeptOutputs(engine: EngineState): Promise<void> {
  if (engine.roots === undefined) return
  const found: [string, number][] = []
  const acceptedFrom = engine.clock.now() - 2 * engine.retentionMs
  try {
    let cursor: string | undefined
    do {
      const query: HistoryQuery = { states: ['completed', 'timeout', 'failed'], acceptedFrom, whole: true }
      const page = await engine.journal.list(query, cursor)
      for (const record of page.records ?? []) holdOutputs(engine, record, found)
      cursor = page.next
    } while (cursor !== undefined && !engine.isClosing)
  } catch (error) {
    if (!engine.isClosing) engine.log.warn({ error }, 'cannot pin all outputs of earlier tasks')
  }
  engine.keptOutputs = new Map([...found, ...engine.keptOutputs].sort(([, one], [, other]) => one - other))
}

function holdOutputs(engine: EngineState, { task, end, result }: TaskRecord, found: [string, number][]): void {
  if (engine.isClosing || end === undefined || end.at < engine.clock.now() - engine.retentionMs) return
  if (engine.keptOutputs.has(task)) return
  const { roots } = openEnd(result)
  if (roots.length === 0) return
  engine.roots?.hold(task, 'outputs', roots)
  found.push([task, end.at])
}
