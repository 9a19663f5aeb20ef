/**
 * Persists a result before the task's end is recorded: the action cache gets the result and, for durability `power`,
 * the blobs that it names are synced to disk. After a crash, a recorded end therefore always has its result. The
 * opposite order is harmless: if the cache has the result of a task that runs once more, that result answers the same
 * request.
 */
import type { EngineState } from '../state/engine-state.ts'
import type { Ending, LiveTask } from '../tasks/live-task.ts'

/** The end is recorded after this, at once where there is nothing to do. */
export function bringHome(engine: EngineState, task: LiveTask, ending: Ending): void {
  if (task.record === 'refused' || !(needsSync(engine, task, ending) || needsCaching(engine, ending))) return
  task.isPersistingResult = true
  engine.writes.begin() // closing the engine waits for this as it waits for journal writes
  void allHome(engine, task, ending).then(() => {
    task.isPersistingResult = false
    engine.recorder.mark(task)
    engine.dispatch()
    engine.writes.done()
  })
}

const needsSync = ({ roots }: EngineState, { durability }: LiveTask, ending: Ending): boolean =>
  durability === 'power' && ending.roots.length > 0 && roots?.makeDurable !== undefined

const needsCaching = ({ results }: EngineState, ending: Ending): boolean => ending.goesToCache && results !== undefined

/** Never rejects: the end is as true as before, and goes on record, whatever else fails. */
async function allHome(engine: EngineState, task: LiveTask, ending: Ending): Promise<void> {
  const { actionKey, instance, id } = task
  try {
    if (needsSync(engine, task, ending)) await engine.roots?.makeDurable?.(ending.roots)
  } catch (error) {
    engine.log.error({ error, task: id }, 'cannot sync the outputs of a result to disk')
  }
  try {
    if (ending.goesToCache && actionKey !== undefined)
      await engine.results?.put(instance, actionKey, ending.result ?? new Uint8Array())
  } catch (error) {
    // The result is no worse for it: the next one who asks for the same has it run again.
    engine.log.warn({ error, task: id }, 'cannot store a result in the action cache')
  }
}
