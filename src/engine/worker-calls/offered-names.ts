import type { Property } from '../../scheduler/model/events.ts'
import type { EngineState } from '../state/engine-state.ts'

/** Enough for any fleet: workers may call their properties what they like, and what is recorded stays for good. */
const MOST_NAMES = 10_000

/**
 * With `refuse_unknown_properties` a property name that no worker ever offered is refused at once; which ones were is
 * known after a restart too, before the first worker is back. Nobody waits for it: a name that is lost is offered again.
 */
export function noteNames(engine: EngineState, properties: readonly Property[]): void {
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
