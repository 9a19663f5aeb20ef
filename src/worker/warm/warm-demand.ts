/** What is asked for counts less with everything that is asked for after it: after 35 others it counts half. */
const FADES_BY = 0.98
/** A language that was requested once may not be requested again; above this demand a prepared room pays. */
const WORTH_IT = 1.5
/** What somebody is likely to ask for is ready until a dozen others have been asked for instead. */
const SEED = 2
/** So many kinds are remembered; callers make them up. */
const MOST_KINDS = 64

/** Learns from what was asked for how many of each kind should be ready. Deterministic: no clock has a part in it. */
export class WarmDemand<Kind extends { readonly key: string }> {
  readonly #kinds = new Map<string, { readonly kind: Kind; weight: number }>()

  /** Worth having from the start, before anybody asked. */
  seed(kind: Kind): void {
    this.#kinds.set(kind.key, { kind, weight: SEED })
  }

  asked(kind: Kind): void {
    for (const each of this.#kinds.values()) each.weight *= FADES_BY
    const known = this.#kinds.get(kind.key)
    if (known !== undefined) known.weight++
    else {
      if (this.#kinds.size >= MOST_KINDS) this.#dropLightest()
      this.#kinds.set(kind.key, { kind, weight: 1 })
    }
  }

  /** It cannot be made ready. */
  forget(key: string): void {
    this.#kinds.delete(key)
  }

  /**
   * How `most` places are divided: of the first half one to each of those who are asked for most, for who comes back to what they
   * did before should find it ready; of the rest each to who has the most weight for those it has and this one.
   */
  wanted(most: number): ReadonlyMap<string, { readonly kind: Kind; readonly count: number }> {
    const worthy = [...this.#kinds.values()].filter(({ weight }) => weight >= WORTH_IT).sort(byWeight)
    const first = worthy.slice(0, Math.ceil(most / 2))
    const shares = new Map(first.map(({ kind }) => [kind.key, { kind, count: 1 }]))
    for (let place = first.length; place < most && worthy.length > 0; place++) {
      const share = ({ kind, weight }: { kind: Kind; weight: number }): number =>
        weight / ((shares.get(kind.key)?.count ?? 0) + 1)
      const next = worthy.reduce((best, each) => (share(each) > share(best) ? each : best))
      const given = shares.get(next.kind.key) ?? { kind: next.kind, count: 0 }
      given.count++
      shares.set(next.kind.key, given)
    }
    return shares
  }

  #dropLightest(): void {
    const lightest = [...this.#kinds.values()].reduce((least, each) => (each.weight < least.weight ? each : least))
    this.#kinds.delete(lightest.kind.key)
  }
}

const byWeight = (one: { readonly weight: number }, other: { readonly weight: number }): number =>
  other.weight - one.weight
