/** One sentence that a server keeps or breaks. The suite, its documentation and its reports are made from these. */
export interface Behaviour {
  /** Stable: people write it in exceptions and in bug reports. */
  readonly id: string
  readonly service: string
  readonly sentence: string
  /** `must` stands in the specification; `should` is its advice, or what real clients depend on. */
  readonly level: BehaviourLevel
  /** The API version that introduced it. */
  readonly since: string
  /** The capabilities that a server must advertise for this behaviour to apply. */
  readonly needs: readonly string[]
  /** Where it comes from, when that is not obvious. */
  readonly note?: string
}

export type BehaviourLevel = 'must' | 'should'

export type CheckOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly expected: string; readonly seen: string }
  /** The server does not claim to do this: neither good nor bad. */
  | { readonly kind: 'not offered'; readonly why: string }

export interface Result {
  readonly behaviour: Behaviour
  readonly outcome: CheckOutcome
  readonly ms: number
}

export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly notOffered: number
}

export const tally = (results: readonly Result[]): Tally => {
  const count = (kind: CheckOutcome['kind']) => results.filter(({ outcome }) => outcome.kind === kind).length
  return { passed: count('passed'), failed: count('failed'), notOffered: count('not offered') }
}

/** In the order in which services come in the table. */
export const byService = <T>(items: readonly T[], serviceOf: (item: T) => string): Map<string, T[]> =>
  Map.groupBy(items, serviceOf)
