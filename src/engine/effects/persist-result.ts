/**
 * What has to be where it belongs before a task's end goes on record: the result in the cache, and, in the word `power`,
 * the blobs that it names on the disk. Whoever finds the end there after a crash finds these too. The other way round is
 * no harm: a cache that has the result of a task that is run once more has an answer to the same question.
 */
import type { EngineState } from '../state/engine-state.ts'
import type { Ending, LiveTask } from '../tasks/live-task.ts'

/** The end is recorded after this, at once where there is nothing to do. */
export function bringHome(engine: EngineState, task: LiveTask, ending: Ending): void {
  if (task.record === 'refused' || !(needsSync(engine, task, ending) || needsCaching(engine, ending))) return
  task.isPersistingResult = true
  engine.writes.begin() // whoever stops the engine waits for it as for a record
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
