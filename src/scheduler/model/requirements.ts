import type { Property, ResourceAmounts } from './events.ts'

/** The amounts that a task reserves, or that a worker has. */
export interface Amounts {
  readonly cpu: number
  readonly memory: number
  readonly disk: number
}

export const demandedAmounts = ({ cpu = 0, memoryBytes = 0, diskBytes = 0 }: ResourceAmounts): Amounts => ({
  cpu,
  memory: memoryBytes,
  disk: diskBytes,
})

/** An amount that a worker does not state is unlimited. */
export const offeredAmounts = ({ cpu, memoryBytes, diskBytes }: ResourceAmounts): Amounts => ({
  cpu: cpu ?? Number.POSITIVE_INFINITY,
  memory: memoryBytes ?? Number.POSITIVE_INFINITY,
  disk: diskBytes ?? Number.POSITIVE_INFINITY,
})

export const fitsWithin = (demand: Amounts, limit: Amounts): boolean =>
  demand.cpu <= limit.cpu && demand.memory <= limit.memory && demand.disk <= limit.disk

export const sameAmounts = (one: Amounts, other: Amounts): boolean =>
  one.cpu === other.cpu && one.memory === other.memory && one.disk === other.disk

/** Describes an invalid demand; undefined for a valid one. */
export function amountsProblem({ cpu, memory, disk }: Amounts): string | undefined {
  if (cpu >= 0 && memory >= 0 && disk >= 0) return undefined
  return `invalid demand: cpu ${cpu}, memory ${memory}, disk ${disk}`
}

/** The exponent of the next lower power of two, plus 32 so that it is not negative: 0 is none, 127 is unlimited. */
function exponent(amount: number): number {
  if (amount <= 0) return 0
  return amount === Number.POSITIVE_INFINITY ? 127 : Math.min(126, Math.max(1, Math.floor(Math.log2(amount)) + 32))
}

/**
 * Amounts rounded down to powers of two, as one number. Tasks are queued and workers are listed by bucket, so that a
 * worker that cannot hold the minimum of a bucket skips all its tasks at once. The exact amounts are compared later.
 */
export const bucketNumber = ({ cpu, memory, disk }: Amounts): number =>
  (exponent(cpu) * 128 + exponent(memory)) * 128 + exponent(disk)

const minimum = (power: number): number =>
  power === 0 ? 0 : power === 127 ? Number.POSITIVE_INFINITY : 2 ** (power - 32)

/** The minimum amounts of a bucket. */
export const bucketFloor = (bucket: number): Amounts => ({
  cpu: minimum(bucket >> 14),
  memory: minimum((bucket >> 7) & 127),
  disk: minimum(bucket & 127),
})

export const amountsText = ({ cpu, memory, disk }: Amounts): string => `${cpu}/${memory}/${disk}`

/** Text for messages: `cpu 4, memory 2.0 GiB`. */
export function describeAmounts({ cpu, memory, disk }: Amounts): string {
  const parts: string[] = []
  if (cpu > 0) parts.push(`cpu ${cpu}`)
  if (memory > 0) parts.push(`memory ${bytesInWords(memory)}`)
  if (disk > 0) parts.push(`disk ${bytesInWords(disk)}`)
  return parts.join(', ')
}

function bytesInWords(bytes: number): string {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(1)} GiB`
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${bytes} bytes`
}

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
