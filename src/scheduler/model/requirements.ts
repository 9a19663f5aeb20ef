import { type Amounts, bucketFloor, bucketNumber, describeAmounts } from './amounts.ts'
import type { Property } from './events.ts'

/** A task's requirements, normalised: they decide which classes of workers can serve it. */
export interface Requirements {
  /** Sorted by name, then by value. */
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  /** The demanded amounts, rounded down to powers of two. */
  readonly bucket: number
}

/** Requirements as a client states them. */
export interface RequestedRequirements {
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  readonly demand: Amounts
}

export const requirementsOf = ({ properties, refusesPreemptible, demand }: RequestedRequirements): Requirements => ({
  properties: isSorted(properties) ? properties : [...properties].sort(byName),
  refusesPreemptible,
  bucket: bucketNumber(demand),
})

const byName = (one: Property, other: Property): number =>
  compare(one.name, other.name) || compare(one.value, other.value)

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** REAPI requires sorted properties with distinct names; such a list needs no sorting. */
function isSorted(properties: readonly Property[]): boolean {
  for (let i = 1; i < properties.length; i++)
    if ((properties[i - 1] as Property).name >= (properties[i] as Property).name) return false
  return true
}

export function sameRequirements(one: Requirements, other: Requirements): boolean {
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

/** Text for metrics and messages: `OSFamily=linux, cpu 4`. */
export function describeRequirements({ properties, bucket, refusesPreemptible }: Requirements): string {
  const parts = properties.map(({ name, value }) => `${name}=${value}`).sort()
  const amounts = describeAmounts(bucketFloor(bucket))
  if (amounts !== '') parts.push(amounts)
  if (refusesPreemptible) parts.push('not preemptible')
  return parts.length === 0 ? 'anything' : parts.join(', ')
}
