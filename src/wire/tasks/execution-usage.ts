import type { ExecutedActionMetadata } from '../../model/action-result.ts'
import { ResourceUsage as UsageProto } from '../gen/windlass/task/v1/task.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** What a command used of its worker's machine. What nobody counted is undefined. */
export interface ResourceUsage {
  readonly wallMs: number
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
  readonly how: 'counted' | 'sampled'
}

type Auxiliary = ExecutedActionMetadata['auxiliary']

const TYPE = 'type.googleapis.com/windlass.task.v1.ResourceUsage'
const READINGS = ['sampled', 'counted'] as const

/** As it stands in the auxiliary metadata of a result. */
export const usageToAuxiliary = (usage: ResourceUsage): Auxiliary[number] => ({
  typeUrl: TYPE,
  value: UsageProto.encode({
    wallMs: whole(usage.wallMs) ?? 0,
    cpuUserMs: whole(usage.cpuUserMs),
    cpuSystemMs: whole(usage.cpuSystemMs),
    peakMemoryBytes: whole(usage.peakMemoryBytes),
    reading: READINGS.indexOf(usage.how) as UsageProto['reading'],
  }).finish(),
})

const whole = (amount: number | undefined): number | undefined =>
  amount === undefined ? undefined : Math.round(amount)

/** Undefined when the worker did not say, or not in these words. */
export function usageOfAuxiliary(auxiliary: Auxiliary): ResourceUsage | undefined {
  const said = auxiliary.find(({ typeUrl }) => typeUrl === TYPE)
  if (said === undefined) return undefined
  const shape = { 1: 'number', 2: 'number', 3: 'number', 4: 'number', 5: 'number' } as const
  const usage = decodeWellFormed(UsageProto, said.value, { name: 'ResourceUsage', shape })
  return {
    wallMs: usage.wallMs,
    cpuUserMs: usage.cpuUserMs,
    cpuSystemMs: usage.cpuSystemMs,
    peakMemoryBytes: usage.peakMemoryBytes,
    how: READINGS.find((_, number) => number === usage.reading) ?? 'sampled',
  }
}
