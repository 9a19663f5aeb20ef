import type { Property } from '../scheduler/model/events.ts'
import { settled } from './record-outcome.ts'
import type { Shell } from './shell.ts'

/** Enough for any fleet: workers may call their properties what they like, and what is recorded stays for good. */
const MOST_NAMES = 10_000

/**
 * With `refuse_unknown_properties` a property name that no worker ever offered is refused at once; which ones were is
 * known after a restart too, before the first worker is back. Nobody waits for it: a name that is lost is offered again.
 */
export function noteNames(shell: Shell, properties: readonly Property[]): void {
  const { namesOffered } = shell
  let names: string[] | undefined
  for (const { name } of properties) {
    if (namesOffered.has(name) || namesOffered.size >= MOST_NAMES) continue
    namesOffered.add(name)
    if (names === undefined) names = [name]
    else names.push(name)
  }
  if (names !== undefined) record(shell, names)
}

function record(shell: Shell, names: readonly string[]): void {
  shell.recording++
  shell.journal.record([{ kind: 'offered', names }], 'process').then(
    () => settled(shell),
    (error: unknown) => {
      // Whoever offers them next tries again.
      for (const name of names) shell.namesOffered.delete(name)
      shell.log.warn({ error, names: names.length }, 'property names that are offered could not be recorded')
      settled(shell)
    },
  )
}
