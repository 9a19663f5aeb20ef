import type { Isolation } from './runtime.ts'

/** From the weakest on. */
const ISOLATIONS: readonly Isolation[] = ['none', 'namespaces', 'sandbox', 'container']

/** Those that a room of this kind is enough for. */
export const weakerOrSame = (given: Isolation): readonly Isolation[] =>
  ISOLATIONS.slice(0, ISOLATIONS.indexOf(given) + 1)

/** Whether a room of this kind is enough for one who asks for that one. */
export const isolatesAs = (given: Isolation, wanted: Isolation): boolean =>
  ISOLATIONS.indexOf(given) >= ISOLATIONS.indexOf(wanted)
