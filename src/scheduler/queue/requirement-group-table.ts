import { type Requirements, sameRequirements } from '../model/requirements.ts'
import { HashIndex, textHash } from './hash-index.ts'
import type { RequirementGroup } from './records.ts'

/**
 * All requirement groups, by requirements. Every submission looks up its group with new strings. They are hashed in place
 * and compared with the one group of the same hash; a `Map` would first need all of them joined to one string.
 */
export class RequirementGroupTable {
  readonly #groups: (RequirementGroup | undefined)[] = []
  readonly #free: number[] = []
  readonly #index = new HashIndex()
  readonly #seed: number

  /** The seed is secret: otherwise a client could choose properties that all have the same hash. */
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

  /** The group must not be in the table. */
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
