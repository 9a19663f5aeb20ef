import type { ResourceAmounts } from './events.ts'

/** What a task uses up, or a worker has: as plain numbers. */
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

/** A worker that does not say how much it has, has enough of it. */
export const offeredAmounts = ({ cpu, memoryBytes, diskBytes }: ResourceAmounts): Amounts => ({
  cpu: cpu ?? Number.POSITIVE_INFINITY,
  memory: memoryBytes ?? Number.POSITIVE_INFINITY,
  disk: diskBytes ?? Number.POSITIVE_INFINITY,
})

export const fitsWithin = (demand: Amounts, space: Amounts): boolean =>
  demand.cpu <= space.cpu && demand.memory <= space.memory && demand.disk <= space.disk

export const sameAmounts = (one: Amounts, other: Amounts): boolean =>
  one.cpu === other.cpu && one.memory === other.memory && one.disk === other.disk

/** In words why it cannot be; undefined when it can. */
export function amountsProblem({ cpu, memory, disk }: Amounts): string | undefined {
  if (cpu >= 0 && memory >= 0 && disk >= 0) return undefined
  return `cpu ${cpu}, memory ${memory}, disk ${disk} cannot be asked for`
}

/** The exponent of the power of two below, moved up so that none is negative: 0 is nothing, 127 without limit. */
function exponent(amount: number): number {
  if (amount <= 0) return 0
  return amount === Number.POSITIVE_INFINITY ? 127 : Math.min(126, Math.max(1, Math.floor(Math.log2(amount)) + 32))
}

/**
 * Amounts to within a power of two, as one number. Tasks are queued by it, and workers listed by it, so that what has no
 * room for the least of a bucket passes over all of them at once; whether one really fits is seen when it is looked at.
 */
export const bucketNumber = ({ cpu, memory, disk }: Amounts): number =>
  (exponent(cpu) * 128 + exponent(memory)) * 128 + exponent(disk)

const least = (power: number): number =>
  power === 0 ? 0 : power === 127 ? Number.POSITIVE_INFINITY : 2 ** (power - 32)

/** The least that is in a bucket. */
export const bucketFloor = (bucket: number): Amounts => ({
  cpu: least(bucket >> 14),
  memory: least((bucket >> 7) & 127),
  disk: least(bucket & 127),
})

export const amountsText = ({ cpu, memory, disk }: Amounts): string => `${cpu}/${memory}/${disk}`

/** For people: `cpu 4, memory 2.0 GiB`. */
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
