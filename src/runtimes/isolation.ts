import type { Isolation } from './runtime.ts'

/** From the weakest on. */
const ISOLATIONS: readonly Isolation[] = ['none', 'namespaces', 'sandbox', 'container']

/** Whether a room of this kind is enough for one who asks for that one. */
export const isolatesAs = (given: Isolation, wanted: Isolation): boolean =>
  ISOLATIONS.indexOf(given) >= ISOLATIONS.indexOf(wanted)
