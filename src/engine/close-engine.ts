import type { EngineState } from './state/engine-state.ts'
import { unavailable } from './tasks/faults.ts'
import { operationsOf } from './tasks/live-task.ts'

/** Everybody is told to come back later; what was accepted is on record, and goes on after the next start. */
export async function closeEngine(engine: EngineState): Promise<void> {
  if (!engine.isClosing) {
    engine.isClosing = true
    engine.links.close('the server is stopping')
    engine.timers.close()
    void engine.recorder.flushStarted()
  }
  await engine.writes.idle()
  const error = unavailable('the server is stopping')
  for (const task of [...engine.live.tasks.values()]) {
    for (const operation of operationsOf(task)) {
      operation.submitter?.reject(error)
      operation.submitter = undefined
      engine.watches.fail(operation, error)
    }
  }
}
