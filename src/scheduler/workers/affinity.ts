import type { Worker } from './records.ts'

/**
 * An input that a worker may still have in its cache, and the three workers that used it last. These are fields and not
 * a list, as are the inputs of a task: every decision reads and writes them, and a list would cost two more loads each.
 */
export interface AffinityInput {
  last: Worker | undefined
  beforeLast: Worker | undefined
  third: Worker | undefined
}

/** The inputs of a task that count for affinity, the most significant first. */
export interface AffinityInputs {
  readonly input1: AffinityInput | undefined
  readonly input2: AffinityInput | undefined
  readonly input3: AffinityInput | undefined
  readonly input4: AffinityInput | undefined
}

/**
 * Inputs by name, in two generations. When the newer one is full, it becomes the older one, and the inputs that were
 * not used since the last change are dropped.
 */
export interface Affinity {
  newer: Map<string, AffinityInput>
  older: Map<string, AffinityInput>
}

const MOST_INPUTS = 50_000

export const makeAffinity = (): Affinity => ({ newer: new Map(), older: new Map() })

export function affinityInput(affinity: Affinity, name: string | undefined): AffinityInput | undefined {
  if (name === undefined) return undefined
  const newer = affinity.newer.get(name)
  if (newer !== undefined) return newer
  const input = affinity.older.get(name) ?? { last: undefined, beforeLast: undefined, third: undefined }
  affinity.newer.set(name, input)
  if (affinity.newer.size >= MOST_INPUTS) {
    affinity.older = affinity.newer
    affinity.newer = new Map()
  }
  return input
}

export function noteInputs({ input1, input2, input3, input4 }: AffinityInputs, worker: Worker): void {
  if (input1 !== undefined) note(input1, worker)
  if (input2 !== undefined) note(input2, worker)
  if (input3 !== undefined) note(input3, worker)
  if (input4 !== undefined) note(input4, worker)
}

function note(input: AffinityInput, worker: Worker): void {
  const { last, beforeLast } = input
  if (last === worker) return
  input.last = worker
  input.beforeLast = last
  if (beforeLast !== worker) input.third = beforeLast
}

export const hasInputs = ({ input1, input2, input3, input4 }: AffinityInputs, worker: Worker): boolean =>
  isOn(input1, worker) || isOn(input2, worker) || isOn(input3, worker) || isOn(input4, worker)

const isOn = (input: AffinityInput | undefined, worker: Worker): boolean =>
  input !== undefined && (input.last === worker || input.beforeLast === worker || input.third === worker)

/** The first suitable worker that used one of the inputs; the most significant input and its last user come first. */
export function firstWarmWorker(inputs: AffinityInputs, suits: (worker: Worker) => boolean): Worker | undefined {
  const { input1, input2, input3, input4 } = inputs
  return warmBy(input1, suits) ?? warmBy(input2, suits) ?? warmBy(input3, suits) ?? warmBy(input4, suits)
}

function warmBy(input: AffinityInput | undefined, suits: (worker: Worker) => boolean): Worker | undefined {
  if (input === undefined) return undefined
  const { last, beforeLast, third } = input
  if (last !== undefined && suits(last)) return last
  if (beforeLast !== undefined && suits(beforeLast)) return beforeLast
  return third !== undefined && suits(third) ? third : undefined
}
