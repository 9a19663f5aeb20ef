import type { Fetch } from '../loading/fetch.ts'
import type { Process } from '../process/process.ts'
import { type Ontology, ontologyOf } from '../values/ontology.ts'

/**
 * Loads the ontologies that a process, and everything that it runs, names in `$schemas`; undefined when there are none.
 */
export async function loadOntology(process: Process, fetch: Fetch): Promise<Ontology | undefined> {
  const addresses = [...new Set(schemasOf(process))]
  if (addresses.length === 0) return undefined
  const texts = await Promise.all(addresses.map((uri) => fetch(uri).catch(() => undefined)))
  // A missing ontology only makes format checks stricter: equal formats still match.
  return ontologyOf(texts.filter((one) => one !== undefined))
}

const schemasOf = (process: Process): readonly string[] =>
  process.class === 'Workflow'
    ? [...process.schemas, ...process.steps.flatMap((step) => schemasOf(step.run))]
    : process.schemas
