/** One required behaviour of a server, as a sentence. The suite, its documentation and its reports use this list. */
export interface Behaviour {
  /** Stable: users write it in lists of exceptions and in bug reports. */
  readonly id: string
  readonly service: string
  readonly sentence: string
  /** `must`: the specification requires it. `should`: the specification recommends it, or real clients depend on it. */
  readonly level: BehaviourLevel
  /** The API version that introduced it. */
  readonly since: string
  /** The capabilities that a server must advertise for this behaviour to apply. */
  readonly needs: readonly string[]
  /** The reason for the behaviour, if it is not obvious. */
  readonly note?: string
}

export type BehaviourLevel = 'must' | 'should'

export type CheckOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly expected: string; readonly seen: string }
  /** The server does not advertise the feature: neither passed nor failed. */
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

/** The services, in the order of the table. */
export const byService = <T>(items: readonly T[], serviceOf: (item: T) => string): Map<string, T[]> =>
  Map.groupBy(items, serviceOf)
