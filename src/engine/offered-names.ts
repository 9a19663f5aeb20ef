import type { Property } from '../scheduler/model/events.ts'
import type { EngineState } from './engine-state.ts'

/** A limit, because workers choose the names and the journal never deletes one. */
const MOST_NAMES = 10_000

/**
 * With `refuse_unknown_properties`, a task with a property name that no worker ever offered is refused at once. The
 * journal keeps the offered names for the time after a restart when no worker has reconnected yet. No call waits for
 * the write: a lost name is recorded again when the worker registers again.
 */
export function recordOfferedNames(engine: EngineState, properties: readonly Property[]): void {
  const { namesOffered } = engine
  let names: string[] | undefined
  for (const { name } of properties) {
    if (namesOffered.has(name) || namesOffered.size >= MOST_NAMES) continue
    namesOffered.add(name)
    if (names === undefined) names = [name]
    else names.push(name)
  }
  if (names !== undefined) record(engine, names)
}

function record(engine: EngineState, names: readonly string[]): void {
  engine.writes.begin()
  engine.journal.record([{ kind: 'offered', names }], 'process').then(
    () => engine.writes.done(),
    (error: unknown) => {
      // The next worker that offers these names tries again.
      for (const name of names) engine.namesOffered.delete(name)
      engine.log.warn({ error, names: names.length }, 'cannot record the property names that workers offer')
      engine.writes.done()
    },
  )
}
