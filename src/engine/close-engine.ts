import type { EngineState } from './engine-state.ts'
import { flushStarted } from './record.ts'
import { unavailable } from './tasks/faults.ts'
import { operationsOf } from './tasks/live-task.ts'
import { failWatches } from './watches.ts'

/** Accepted tasks are in the journal and continue after the next start. Callers get an error that makes them retry. */
export async function closeEngine(engine: EngineState): Promise<void> {
  if (!engine.isClosing) {
    engine.isClosing = true
    engine.links.close('the server is stopping')
    engine.timers.close()
    void flushStarted(engine)
  }
  await engine.writes.idle()
  const error = unavailable('the server is stopping')
  for (const task of [...engine.live.tasks.values()]) {
    for (const operation of operationsOf(task)) {
      operation.submitter?.reject(error)
      operation.submitter = undefined
      failWatches(engine, operation, error)
    }
  }
}
