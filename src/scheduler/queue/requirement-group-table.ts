import type { Property } from '../model/events.ts'
import { HashIndex, textHash } from './hash-index.ts'
import type { RequirementGroup, Requirements } from './requirement-group.ts'

/**
 * All lanes, found by what their tasks ask for. It is asked for at every submission, with texts that are new: they are
 * hashed where they lie, and compared with those of the one lane that may be meant; to look it up by one text, that
 * would first have to be put together.
 */
export class RequirementGroupTable {
  readonly #groups: (RequirementGroup | undefined)[] = []
  readonly #free: number[] = []
  readonly #index = new HashIndex()
  readonly #seed: number

  /** The seed is nobody's to know: else somebody could choose properties that all have one hash. */
  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#groups.length - this.#free.length
  }

  get(requirements: Requirements): RequirementGroup | undefined {
    const hash = this.#hashOf(requirements)
    for (let at = this.#index.seek(hash); at >= 0; at = this.#index.seek(hash, at + 1)) {
      const group = this.#groups[this.#index.numberAt(at)]
      if (group !== undefined && sameRequirements(group, requirements)) return group
    }
    return undefined
  }

  /** One that is not there yet. */
  add(group: RequirementGroup): void {
    group.number = this.#free.pop() ?? this.#groups.length
    this.#groups[group.number] = group
    this.#index.add(this.#hashOf(group), group.number)
  }

  delete(group: RequirementGroup): void {
    this.#index.remove(this.#hashOf(group), group.number)
    this.#groups[group.number] = undefined
    this.#free.push(group.number)
  }

  *values(): Generator<RequirementGroup> {
    for (const group of this.#groups) if (group !== undefined) yield group
  }

  #hashOf({ properties, refusesPreemptible, bucket }: Requirements): number {
    let hash = this.#seed ^ (refusesPreemptible ? ~bucket : bucket)
    for (const { name, value } of properties) hash = textHash(value, textHash(name, hash))
    return hash
  }
}

function sameRequirements(one: Requirements, other: Requirements): boolean {
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
