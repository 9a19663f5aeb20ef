import type { ResourceAmounts } from './events.ts'

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
