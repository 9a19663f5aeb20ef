/** The factor of each request's weight per later request: after 35 others it counts half. */
const FADES_BY = 0.98
/**
 * The demand above which a prepared room is worth its cost: a language that was requested once may not be requested
 * again.
 */
const WORTH_IT = 1.5
/** The weight of a likely kind before its first request: enough to stay ready during a dozen requests for others. */
const SEED = 2
/** The maximum number of remembered kinds, because clients choose them. */
const MOST_KINDS = 64

/** Learns from requests how many of each kind should be ready. Deterministic: it reads no clock. */
export class WarmDemand<Kind extends { readonly key: string }> {
  readonly #kinds = new Map<string, { readonly kind: Kind; weight: number }>()

  /** A kind that is worth preparing before the first request for it. */
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

  /** A kind that cannot be prepared. */
  forget(key: string): void {
    this.#kinds.delete(key)
  }

  /**
   * Divides `most` places. The first half goes to the kinds in most demand, one place each, so that a client that
   * returns to an earlier language finds it ready. Each further place goes to the kind with the highest weight per
   * place.
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
