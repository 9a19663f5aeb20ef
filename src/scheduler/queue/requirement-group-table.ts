import type { Property } from '../model/events.ts'
import { HashIndex, textHash } from './hash-index.ts'
import type { Lane, Wants } from './requirement-group.ts'

/**
 * All lanes, found by what their tasks ask for. It is asked for at every submission, with texts that are new: they are
 * hashed where they lie, and compared with those of the one lane that may be meant; to look it up by one text, that
 * would first have to be put together.
 */
export class LaneTable {
  readonly #lanes: (Lane | undefined)[] = []
  readonly #free: number[] = []
  readonly #index = new HashIndex()
  readonly #seed: number

  /** The seed is nobody's to know: else somebody could choose properties that all have one hash. */
  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#lanes.length - this.#free.length
  }

  get(wants: Wants): Lane | undefined {
    const hash = this.#hashOf(wants)
    for (let at = this.#index.seek(hash); at >= 0; at = this.#index.seek(hash, at + 1)) {
      const lane = this.#lanes[this.#index.numberAt(at)]
      if (lane !== undefined && wantsSame(lane, wants)) return lane
    }
    return undefined
  }

  /** One that is not there yet. */
  add(lane: Lane): void {
    lane.number = this.#free.pop() ?? this.#lanes.length
    this.#lanes[lane.number] = lane
    this.#index.add(this.#hashOf(lane), lane.number)
  }

  delete(lane: Lane): void {
    this.#index.remove(this.#hashOf(lane), lane.number)
    this.#lanes[lane.number] = undefined
    this.#free.push(lane.number)
  }

  *values(): Generator<Lane> {
    for (const lane of this.#lanes) if (lane !== undefined) yield lane
  }

  #hashOf({ properties, refusesPreemptible, bucket }: Wants): number {
    let hash = this.#seed ^ (refusesPreemptible ? ~bucket : bucket)
    for (const { name, value } of properties) hash = textHash(value, textHash(name, hash))
    return hash
  }
}

function wantsSame(one: Wants, other: Wants): boolean {
  if (one.bucket !== other.bucket || one.refusesPreemptible !== other.refusesPreemptible) return false
  const { length } = one.properties
  if (length !== other.properties.length) return false
  for (let i = 0; i < length; i++) {
    const mine = one.properties[i] as Property
    const theirs = other.properties[i] as Property
    if (mine.name !== theirs.name || mine.value !== theirs.value) return false
  }
  return true
}
